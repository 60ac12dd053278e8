//! The evidence by eigenvalues against the definition by a factor, and a matrix that is none.

use ndarray::array;

use super::super::evidence::tests::regression;
use super::*;

#[test]
fn evidence_is_that_of_the_factor() {
    let regression = regression(4, Prior::default());
    for members in [vec![], vec![2], vec![0, 3], vec![0, 1, 2, 3]] {
        let spectrum = Spectrum::new(&regression, &members);
        for v in [1e-6, 0.3, 10.0, 1e8] {
            let (found, wanted) =
                (spectrum.log_evidence(v).unwrap(), regression.log_evidence(&members, v).unwrap());
            assert!(
                (found - wanted).abs() < 1e-9 * wanted.abs().max(1.0),
                "{members:?}, {v}: {found}, {wanted}"
            );
        }
    }
}

#[test]
fn a_direction_without_data_has_the_slab_alone() {
    let prior = Prior { standardize: false, ..Prior::default() };
    // The second column is the first; rounding makes the difference of both negative.
    let gram = array![[10.0, 10.0], [10.0, 10.0 - 1e-13]];
    let regression = ScaledRegression::new(gram.view(), array![5.0, 5.0].view(), 12.0, 30.0, prior).unwrap();
    let spectrum = Spectrum::new(&regression, &[0, 1]);
    let (mean, cov) = spectrum.mixed([(1e12, 1.0)].into_iter(), 28.0).unwrap();
    assert!((mean[0] - 0.25).abs() < 1e-6 && (mean[1] - 0.25).abs() < 1e-6);
    assert!(cov[(0, 0)] > 1e9);
}

#[test]
fn an_indefinite_matrix_is_refused() {
    let prior = Prior { standardize: false, ..Prior::default() };
    let gram = array![[1.0, 2.0], [2.0, 1.0]];
    let regression = ScaledRegression::new(gram.view(), array![0.0, 0.0].view(), 1.0, 30.0, prior).unwrap();
    let spectrum = Spectrum::new(&regression, &[0, 1]);
    assert!(spectrum.log_evidence(0.5).is_ok() && spectrum.log_evidence(2.0).is_err());
}
