// Eigen's decompositions of small dense matrices, as references of the tests: compiled once, for matrices of any size.
#pragma once

#include <Eigen/Core>

namespace lope::reference {

// Of a symmetric matrix, ascending.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& symmetric);

// The symmetric matrix with its negative eigenvalues put to 0.
Eigen::MatrixXd nearest_semidefinite(const Eigen::MatrixXd& symmetric);

// Descending.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& matrix);

// The orthogonal factor of a QR decomposition.
Eigen::MatrixXd orthogonal_factor(const Eigen::MatrixXd& matrix);

// The orthogonal factor of the polar decomposition.
Eigen::MatrixXd nearest_orthogonal(const Eigen::MatrixXd& matrix);

}  // namespace lope::reference
