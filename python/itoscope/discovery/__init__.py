"""`discover`, its result and its scikit-learn estimator."""
