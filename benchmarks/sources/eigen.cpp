// Modules of growing size from Eigen: SIZE 1 is one product, 2 two solvers, 3 all solvers, 4 all of them six times over.
#include <Eigen/Dense>
#include <complex>
using namespace Eigen;

#if SIZE == 1
float dot(const Vector3f& a, const Vector3f& b) { return a.dot(b); }
#else
template <class S, int N> S work(S seed) {
  const int n = N < 0 ? 7 : N;
  Matrix<S, N, N> a = Matrix<S, N, N>::Random(n, n);
  Matrix<S, N, 1> b = a.col(0) * seed, x = a.partialPivLu().solve(b) + a.householderQr().solve(b);
#if SIZE >= 3
  x += a.fullPivLu().solve(b) + a.colPivHouseholderQr().solve(b) + (a * a.adjoint()).ldlt().solve(b);
  x(0) += S(JacobiSVD<Matrix<S, Dynamic, Dynamic>>(a, ComputeThinU | ComputeThinV).rank());
  x(0) += S(SelfAdjointEigenSolver<Matrix<S, N, N>>(a * a.adjoint()).eigenvalues()(0)) + a.inverse().trace();
#endif
  return x.sum();
}
template double work<double, Dynamic>(double);
#if SIZE >= 4
template float work<float, Dynamic>(float);
template std::complex<double> work<std::complex<double>, Dynamic>(std::complex<double>);
template std::complex<float> work<std::complex<float>, Dynamic>(std::complex<float>);
template long double work<long double, Dynamic>(long double);
template double work<double, 4>(double);
#endif
#endif
