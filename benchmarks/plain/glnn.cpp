// One update of w and one of tau of a gated leaky neural network, straight from the sums of Section 2 of
// Ollivier, "Riemannian metrics for neural networks II": plain loops over time, units, edges and letters, on
// contiguous arrays that the caller owns. It is the yardstick for the package's own speed.
//
// Unit 0 is the constant one, the others are 1..N. Arrays over time have one row per symbol; pi has one row per
// symbol to be predicted. Several sequences add up: each starts again from V0.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

struct Problem {
    int64_t T, N, A, E;        // symbols, units without the constant one, letters, edges with those from unit 0
    int64_t sequences;         // sequence k is x[starts[k]] .. x[starts[k + 1] - 1]
    const int64_t* starts;
    const int32_t* x;          // (T)
    const uint8_t* chi;        // (T) 1 where the symbol is to be predicted
    const int32_t* first;      // (N+1) edges into unit j are first[j-1] .. first[j] - 1, as in a row of tau,
    const int32_t* from;       // (E) and come from these units, the constant first
    const int32_t* out_first;  // (N+1) edges out of unit i, its loop left out, are out_first[i-1] .. out_first[i] - 1
    const int32_t* out_edge;   // where such an edge stands in a row of tau
    const int32_t* out_unit;   // and the unit it goes to
    const int32_t* loop;       // (N) where the loop of unit i stands in a row of tau
    const int64_t* block;      // (N+1) where the matrix of unit j begins in a row of M
};

extern "C" {

// V_j^{t+1} = V_j^t + sum_i tau_{ij x_t} a_i^t and a = tanh(V), def:glnn. Fills a (T, N+1).
void activities(const Problem* p, const double* tau, const double* V0, double* a) {
    const int64_t N = p->N;
    std::vector<double> V(N);
    for (int64_t k = 0; k < p->sequences; k++) {
        std::copy(V0, V0 + N, V.begin());
        for (int64_t t = p->starts[k]; t < p->starts[k + 1]; t++) {
            double* at = a + t * (N + 1);
            at[0] = 1;
            for (int64_t j = 0; j < N; j++) at[j + 1] = std::tanh(V[j]);

            const double* tau_x = tau + p->x[t] * p->E;
            for (int64_t j = 0; j < N; j++) {
                double sum = 0;
                for (int32_t e = p->first[j]; e < p->first[j + 1]; e++) sum += tau_x[e] * at[p->from[e]];
                V[j] += sum;
            }
        }
    }
}

// pi_t(y) = exp(sum_i a_i^t w_iy) / sum_y' exp(sum_i a_i^t w_iy'). Fills pi, returns sum_t chi_t log pi_t(x_t).
double output(const Problem* p, const double* w, const double* a, double* pi) {
    const int64_t N = p->N, A = p->A;
    double log_likelihood = 0;
    for (int64_t t = 0; t < p->T; t++) {
        if (!p->chi[t]) continue;
        const double* at = a + t * (N + 1);
        for (int64_t y = 0; y < A; y++) pi[y] = w[y];
        for (int64_t i = 1; i <= N; i++)
            for (int64_t y = 0; y < A; y++) pi[y] += at[i] * w[i * A + y];

        double largest = pi[0];
        for (int64_t y = 1; y < A; y++) largest = std::max(largest, pi[y]);
        const double exponent = pi[p->x[t]] - largest;
        double sum = 0;
        for (int64_t y = 0; y < A; y++) {
            pi[y] = std::exp(pi[y] - largest);
            sum += pi[y];
        }
        for (int64_t y = 0; y < A; y++) pi[y] /= sum;
        log_likelihood += exponent - std::log(sum);
        pi += A;
    }
    return log_likelihood;
}

// W_iy = sum_t chi_t a_i^t (1[x_t = y] - pi_t(y)), and eq:hessian:
// h_ii^y = epsilon_y + sum_t chi_t (a_i^t)^2 pi_t(y) (1 - pi_t(y)), h_0i^y = sum_t chi_t a_i^t pi_t(y) (1 - pi_t(y)).
// All three are (N+1, A); row 0 of hii is h_00.
void writing_terms(const Problem* p, const double* a, const double* pi, const double* epsilon, double* W, double* hii,
                   double* h0i) {
    const int64_t N = p->N, A = p->A;
    std::vector<double> variance(A);
    std::fill(W, W + (N + 1) * A, 0.0);
    std::fill(h0i, h0i + (N + 1) * A, 0.0);
    for (int64_t i = 0; i <= N; i++) std::copy(epsilon, epsilon + A, hii + i * A);

    for (int64_t t = 0; t < p->T; t++) {
        if (!p->chi[t]) continue;
        const double* at = a + t * (N + 1);
        for (int64_t y = 0; y < A; y++) variance[y] = pi[y] * (1 - pi[y]);
        for (int64_t i = 0; i <= N; i++) {
            const double ai = at[i], ai2 = ai * ai;
            double *Wi = W + i * A, *hi = hii + i * A, *h0 = h0i + i * A;
            for (int64_t y = 0; y < A; y++) Wi[y] -= ai * pi[y];
            for (int64_t y = 0; y < A; y++) hi[y] += ai2 * variance[y];
            for (int64_t y = 0; y < A; y++) h0[y] += ai * variance[y];
            Wi[p->x[t]] += ai;
        }
        pi += A;
    }
}

// The quasi-diagonal step, eq:qdw1 and eq:qdw2.
void writing_step(const Problem* p, const double* W, const double* hii, const double* h0i, double eta, const double* w,
                  double* w_new) {
    const int64_t N = p->N, A = p->A;
    for (int64_t y = 0; y < A; y++) {
        const double h00 = hii[y];
        double bias = W[y] / h00;
        for (int64_t i = 1; i <= N; i++) {
            const int64_t iy = i * A + y;
            const double ratio = h0i[iy] / h00;
            const double direction = (W[iy] - W[y] * ratio) / (hii[iy] - h0i[iy] * ratio);
            w_new[iy] = w[iy] + eta * direction;
            bias -= ratio * direction;
        }
        w_new[y] = w[y] + eta * bias;
    }
}

}  // extern "C"

// B_i^t = B_i^{t+1} + s'(V_i^t) (chi_t (w_{i x_t} - sum_y pi_t(y) w_iy) + sum_j tau_{ij x_t} B_j^{t+1}), and
// RUOP: m_i^t = (B_i^t)^2
// RBPM: m_i^t = s'(V_i^t)^2 (chi_t Var_{pi_t}(w_i) + sum_{j != i} tau_{ij x_t}^2 m_j^{t+1})
//               + (1 + tau_{ii x_t} s'(V_i^t))^2 m_i^{t+1}                                   (eq:explicitbpmod)
// Fills B and m (T, N); both are 0 past the end of a sequence.
template <bool RBPM>
void backward(const Problem* p, const double* w, const double* tau, const double* a, const double* pi, double* B,
              double* m) {
    const int64_t N = p->N, A = p->A;
    const std::vector<double> zero(N, 0.0);
    for (int64_t t = 0; t < p->T; t++)
        if (p->chi[t]) pi += A;  // now one row past the last

    for (int64_t k = p->sequences - 1; k >= 0; k--) {
        const double *B_next = zero.data(), *m_next = zero.data();
        for (int64_t t = p->starts[k + 1] - 1; t >= p->starts[k]; t--) {
            const double* at = a + t * (N + 1);
            const double* tau_x = tau + p->x[t] * p->E;
            double *Bt = B + t * N, *mt = m + t * N;
            if (p->chi[t]) pi -= A;

            for (int64_t i = 0; i < N; i++) {
                const double loop = tau_x[p->loop[i]];
                double sum_B = loop * B_next[i], sum_m = 0;
                for (int32_t o = p->out_first[i]; o < p->out_first[i + 1]; o++) {
                    const double tau_ij = tau_x[p->out_edge[o]];
                    const int32_t j = p->out_unit[o] - 1;
                    sum_B += tau_ij * B_next[j];
                    if (RBPM) sum_m += tau_ij * tau_ij * m_next[j];
                }
                if (p->chi[t]) {
                    const double* wi = w + (i + 1) * A;
                    double mean = 0, square = 0;
                    for (int64_t y = 0; y < A; y++) {
                        const double pw = pi[y] * wi[y];
                        mean += pw;
                        if (RBPM) square += pw * wi[y];
                    }
                    sum_B += wi[p->x[t]] - mean;
                    if (RBPM) sum_m += square - mean * mean;
                }
                const double slope = 1 - at[i + 1] * at[i + 1];
                const double kept = 1 + loop * slope;
                Bt[i] = B_next[i] + slope * sum_B;
                mt[i] = RBPM ? slope * slope * sum_m + kept * kept * m_next[i] : Bt[i] * Bt[i];
            }
            B_next = Bt;
            m_next = mt;
        }
    }
}

extern "C" {

void backward_rbpm(const Problem* p, const double* w, const double* tau, const double* a, const double* pi, double* B,
                   double* m) {
    backward<true>(p, w, tau, a, pi, B, m);
}

void backward_ruop(const Problem* p, const double* w, const double* tau, const double* a, const double* pi, double* B,
                   double* m) {
    backward<false>(p, w, tau, a, pi, B, m);
}

// G_i^(jy) = sum_t 1[x_t = y] a_i^t B_j^{t+1} and M_ii'^(jy) = sum_t 1[x_t = y] a_i^t a_i'^t m_j^{t+1}, eq:tildeM,
// without damping. Fills G (A, E) and the lower triangles in M (A, block[N]).
void metric_terms(const Problem* p, const double* a, const double* B, const double* m, double* G, double* M) {
    const int64_t N = p->N;
    std::vector<double> r(N + 1);
    std::fill(G, G + p->A * p->E, 0.0);
    std::fill(M, M + p->A * p->block[N], 0.0);
    for (int64_t k = 0; k < p->sequences; k++)
        for (int64_t t = p->starts[k]; t + 1 < p->starts[k + 1]; t++) {
            const double* at = a + t * (N + 1);
            double* G_x = G + p->x[t] * p->E;
            double* M_x = M + p->x[t] * p->block[N];
            for (int64_t j = 0; j < N; j++) {
                const double Bj = B[(t + 1) * N + j], mj = m[(t + 1) * N + j];
                const int32_t* from = p->from + p->first[j];
                const int64_t n = p->first[j + 1] - p->first[j];
                double* Gj = G_x + p->first[j];
                double* Mj = M_x + p->block[j];
                for (int64_t i = 0; i < n; i++) r[i] = at[from[i]];
                for (int64_t i = 0; i < n; i++) Gj[i] += Bj * r[i];
                for (int64_t i = 0; i < n; i++) {
                    const double mr = mj * r[i];
                    for (int64_t l = 0; l <= i; l++) Mj[i * n + l] += mr * r[l];
                }
            }
        }
}

// tau^(jy) += eta (M^(jy) + damping)^{-1} G^(jy) by Cholesky, M = L L^T; V_j^0 += eta B_j^0 / (m_j^0 + damping).
// Returns -1, or y N + j for the first matrix that is not positive definite to machine precision.
int64_t transition_step(const Problem* p, const double* B, const double* m, const double* G, const double* M,
                        double damping, double eta, const double* tau, const double* V0, double* tau_new,
                        double* V0_new) {
    const int64_t N = p->N;
    std::vector<double> L((N + 1) * (N + 1)), z(N + 1);
    for (int64_t y = 0; y < p->A; y++)
        for (int64_t j = 0; j < N; j++) {
            const int64_t n = p->first[j + 1] - p->first[j], at = y * p->E + p->first[j];
            const double* Mj = M + y * p->block[N] + p->block[j];
            for (int64_t i = 0; i < n; i++) {
                for (int64_t l = 0; l <= i; l++) {
                    double sum = Mj[i * n + l] + (i == l ? damping : 0);
                    for (int64_t q = 0; q < l; q++) sum -= L[i * n + q] * L[l * n + q];
                    if (l < i)
                        L[i * n + l] = sum / L[l * n + l];
                    else if (sum > 0)
                        L[i * n + i] = std::sqrt(sum);
                    else
                        return y * N + j;
                }
                double sum = G[at + i];  // L z = G
                for (int64_t q = 0; q < i; q++) sum -= L[i * n + q] * z[q];
                z[i] = sum / L[i * n + i];
            }
            for (int64_t i = n - 1; i >= 0; i--) {  // L^T z = z
                z[i] /= L[i * n + i];
                for (int64_t q = 0; q < i; q++) z[q] -= L[i * n + q] * z[i];
                tau_new[at + i] = tau[at + i] + eta * z[i];
            }
        }
    for (int64_t j = 0; j < N; j++) {
        double B0 = 0, m0 = 0;
        for (int64_t k = 0; k < p->sequences; k++) {
            B0 += B[p->starts[k] * N + j];
            m0 += m[p->starts[k] * N + j];
        }
        V0_new[j] = V0[j] + eta * B0 / (m0 + damping);
    }
    return -1;
}

}  // extern "C"
