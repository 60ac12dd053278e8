//! Functions that are compiled twice on x86-64, for the baseline and for AVX2 with fused multiply-add, and where that pays
//! a third time, for AVX-512; the widest that the processor has is taken. The first may differ from the others in the
//! last bit; on one machine the bits are always the same.

/// Declares a function that is compiled for the baseline and for AVX2, with `true;` before it for AVX-512 as well; inside,
/// `FMA` says whether products and sums may be [`fused`].
macro_rules! vectorised {
    ($widest:literal; $($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $kind:ty),* $(,)?) $(-> $out:ty)? $body:block)*) => {$(
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
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
                fn widest($($arg: $kind),*) $(-> $out)? { body::<true>($($arg),*) }
                if $widest && $crate::vectorised::has_avx512() {
                    // SAFETY: the processor was just asked whether it has AVX-512 and FMA.
                    return unsafe { widest($($arg),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the processor was just asked whether it has AVX2 and FMA.
                    return unsafe { wide($($arg),*) };
                }
            }
            body::<false>($($arg),*)
        }
    )*};
    ($($functions:tt)*) => { $crate::vectorised::vectorised! { false; $($functions)* } };
}

/// Whether the processor has what the widest version is compiled for.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512f") && has!("avx512dq") && has!("avx512vl") && has!("fma")
}

/// `a b + c`, in one rounding where the processor can do it in one instruction.
#[inline(always)]
pub fn fused<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

pub(crate) use vectorised;
