"""What every floor may use: types, checks of arguments, numbers in print, optional packages, progress, the prior."""
