//! How numbers are written: to a few digits, and a value rounded together with its standard deviation.

/// Significant digits of a number that has no error.
const DIGITS: i32 = 4;

/// How to write a coefficient and all that belongs to it: its last digit is one that its standard deviation knows.
pub(super) struct Rounding {
    decimals: i32,
    exponent: i32,
}

impl Rounding {
    /// Two digits of the standard deviation, or one when its first digit is 3 to 9.
    pub(super) fn of(value: f64, sd: f64) -> Self {
        let sd = if sd.is_infinite() { 0.01 * value.abs() } else { sd };
        let size = value.abs().max(sd);
        if !(size.is_finite() && size > 0.0) {
            return Self { decimals: 6, exponent: 0 };
        }
        let power = size.log10().floor() as i32;
        let exponent = if (-3..6).contains(&power) { 0 } else { power };
        if sd.is_nan() || sd <= 0.0 {
            return Self { decimals: (exponent - power + 5).max(0), exponent };
        }
        let lead = (sd.log10() + 1e-12).floor() as i32;
        let first: f64 = format!("{:.1}", sd / 10.0_f64.powf(f64::from(lead))).parse().unwrap_or(1.0);
        let digits = if first >= 3.0 { 1 } else { 2 };
        Self { decimals: exponent - lead + digits - 1, exponent }
    }

    /// Writes a value to this place, with this power of ten.
    pub(super) fn write(&self, value: f64) -> String {
        if !value.is_finite() {
            return value.to_string().to_lowercase();
        }
        let scaled = value / 10.0_f64.powf(f64::from(self.exponent));
        let text = if self.decimals >= 0 {
            format!("{scaled:.*}", self.decimals as usize)
        } else {
            let unit = 10.0_f64.powf(f64::from(-self.decimals));
            format!("{:.0}", (scaled / unit).round_ties_even() * unit)
        };
        if self.exponent == 0 { text } else { format!("{text}e{}", self.exponent) }
    }
}

/// A number to four significant digits, without trailing zeros.
pub(super) fn number(value: f64) -> String {
    rounded(value, DIGITS)
}

fn rounded(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let scientific = format!("{value:.*e}", digits as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let bare = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..digits).contains(&exponent) {
        bare(&format!("{value:.*}", (digits - 1 - exponent) as usize))
    } else {
        format!("{}e{exponent}", bare(mantissa))
    }
}

/// An inclusion probability to three digits, `> 0.999` where that rounds to one.
pub(super) fn probability(p: f64) -> String {
    if p > 0.999 { "> 0.999".into() } else { format!("{p:.3}") }
}
