//! Functions that are compiled twice on x86-64, for the baseline and for AVX2 with fused multiply-add; the second is taken
//! where the processor has it. The two may differ in the last bit; on one machine the bits are always the same.

/// Declares a function that is compiled for the baseline and for AVX2; inside, `FMA` says whether products and sums may
/// be [`fused`].
macro_rules! vectorised {
    ($($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $kind:ty),* $(,)?) $(-> $out:ty)? $body:block)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        #[inline]
        pub fn $name($($arg: $kind),*) $(-> $out)? {
            #[allow(clippy::too_many_arguments, clippy::extra_unused_type_parameters)]
            #[inline(always)]
            fn body<const FMA: bool>($($arg: $kind),*) $(-> $out)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx2,fma")]
                fn wide($($arg: $kind),*) $(-> $out)? { body::<true>($($arg),*) }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the processor was just asked whether it has AVX2 and FMA.
                    return unsafe { wide($($arg),*) };
                }
            }
            body::<false>($($arg),*)
        }
    )*};
}

/// `a b + c`, in one rounding where the processor can do it in one instruction.
#[inline(always)]
pub fn fused<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

pub(crate) use vectorised;
