#include <Eigen/Dense>

Eigen::MatrixXd inverse(const Eigen::MatrixXd &matrix) { return matrix.inverse(); }
