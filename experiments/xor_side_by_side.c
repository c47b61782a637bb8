/* Sixteen GLNNs of ten units on one sequence of distant XOR, in the lanes of vectors of single precision.

   For `xor_side_by_side.py`, which has the steps. Lanes share the symbols, so that each symbol's transitions are read
   once for all of them. The state is kept at the beginning of each line only; the way back computes the rest again. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define L 16                   /* networks */
#define N 10                   /* units */
#define A 6                    /* symbols */
#define P (N * (N + 1))        /* transitions of a symbol: tau[symbol][from, 0 is the bias][to] */
#define K ((N + 1) * (N + 2) / 2) /* entries of a block of the metric */
#define LONGEST 1000           /* symbols of a line, at most */
#define FLUSH 32               /* lines whose sums are kept in single precision */

typedef float lanes __attribute__((vector_size(4 * L), aligned(4 * L)));
typedef int bits __attribute__((vector_size(4 * L), aligned(4 * L)));

static inline lanes all(float x) {
  lanes r;
  for (int l = 0; l < L; l++) r[l] = x;
  return r;
}

static inline lanes least(lanes a, lanes b) {
  bits m = a < b;
  return (lanes)(((bits)a & m) | ((bits)b & ~m));
}

static inline lanes largest(lanes a, lanes b) { return -least(-a, -b); }

/* tanh(x) = 1 - 2 / (exp(2x) + 1), with exp by halving the argument and a polynomial. */
static inline lanes squash(lanes x) {
  x = least(largest(x, all(-9.f)), all(9.f));
  lanes z = x * (2.f / 256.f);
  lanes e = all(1.f) + z * (all(1.f) + z * (all(0.5f) + z * (all(1.f / 6.f) + z * (1.f / 24.f))));
  /* exp(z) - 1 is squared up eight times without losing what is small. */
  lanes m = e - all(1.f);
  for (int k = 0; k < 8; k++) m = m * (m + 2.f);
  return m / (m + 2.f);
}

static inline void step(lanes *V, const lanes *a, const lanes *tau) {
  for (int j = 0; j < N; j++) V[j] += tau[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) V[j] += a[i] * tau[(i + 1) * N + j];
}

/* States at the beginning of lines, and activities where a symbol is to be predicted (place[n], one a line). */
void forward(const uint8_t *x, const int *begin, const int *place, int lines, const lanes *tau, const lanes *V0,
             lanes *states, lanes *activities) {
  lanes V[N], a[N];
  memcpy(V, V0, sizeof V);
  for (int n = 0; n < lines; n++) {
    memcpy(states + n * N, V, sizeof V);
    for (int t = begin[n]; t < begin[n + 1]; t++) {
      for (int j = 0; j < N; j++) a[j] = squash(V[j]);
      if (t == place[n]) memcpy(activities + n * N, a, sizeof a);
      step(V, a, tau + x[t] * P);
    }
  }
}

/* Probabilities of the symbols in w, the log-likelihood and the part of the lines with a correct bit at most 1/2. */
void output(const lanes *activities, const lanes *w, const int *correct, int lines, int symbols, lanes *p,
            double *log_likelihood, double *errors) {
  for (int l = 0; l < L; l++) log_likelihood[l] = errors[l] = 0;
  for (int n = 0; n < lines; n++) {
    lanes E[A], top = all(-1e30f), sum = all(0.f);
    for (int y = 0; y < symbols; y++) {
      E[y] = w[y];
      for (int i = 0; i < N; i++) E[y] += activities[n * N + i] * w[(i + 1) * symbols + y];
      top = largest(top, E[y]);
    }
    for (int y = 0; y < symbols; y++) {
      lanes z = E[y] - top;
      for (int l = 0; l < L; l++) z[l] = expf(z[l]);
      E[y] = z;
      sum += z;
    }
    for (int y = 0; y < symbols; y++) p[n * symbols + y] = E[y] / sum;
    for (int l = 0; l < L; l++) {
      float q = p[n * symbols + correct[n]][l];
      log_likelihood[l] += logf(q + 1e-37f);
      errors[l] += (q <= .5f) / (double)lines;
    }
  }
}

/* W, h_ii and h_0i of the writing weights. */
void writing(const lanes *activities, const lanes *p, const int *correct, int lines, int symbols, double *W, double *h,
             double *h0) {
  int S = (N + 1) * symbols;
  lanes sums[3][(N + 1) * A];
  memset(sums, 0, sizeof sums);
  for (int k = 0; k < S * L; k++) W[k] = h[k] = h0[k] = 0;
  for (int n = 0; n < lines; n++) {
    for (int y = 0; y < symbols; y++) {
      lanes q = p[n * symbols + y], r = all(correct[n] == y) - q;
      q *= all(1.f) - q;
      sums[0][y] += r;
      sums[1][y] += q;
      for (int i = 0; i < N; i++) {
        lanes a = activities[n * N + i];
        int k = (i + 1) * symbols + y;
        sums[0][k] += a * r;
        sums[1][k] += a * a * q;
        sums[2][k] += a * q;
      }
    }
    if ((n + 1) % FLUSH == 0 || n == lines - 1) {
      for (int k = 0; k < S; k++)
        for (int l = 0; l < L; l++) {
          W[k * L + l] += sums[0][k][l];
          h[k * L + l] += sums[1][k][l];
          h0[k * L + l] += sums[2][k][l];
        }
      memset(sums, 0, sizeof sums);
    }
  }
}

/* Gradient and blocks of M~ (RBPM; the blocks from every `every`-th line, times that), and those of the start values.
   Also the range of each unit's activities after the first thousandth of the lines. */
void backward(const uint8_t *x, const int *begin, const int *place, int lines, const lanes *tau, const lanes *states,
              const lanes *w, const lanes *p, const int *correct, int symbols, int every, double *G, double *M,
              float *start_gradient, float *start_modulus, float *low, float *high) {
  static lanes g[A * P], blocks[A * N * K], squares[A * P], line[LONGEST * N];
  lanes B[N], m[N], lo[N], hi[N];
  memset(G, 0, sizeof(double) * A * P * L);
  memset(M, 0, sizeof(double) * A * N * K * L);
  memset(g, 0, sizeof g);
  memset(blocks, 0, sizeof blocks);
  for (int k = 0; k < A * P; k++) squares[k] = tau[k] * tau[k];
  for (int j = 0; j < N; j++) B[j] = m[j] = all(0.f), lo[j] = all(9.f), hi[j] = all(-9.f);
  for (int n = lines - 1; n >= 0; n--) {
    int b = begin[n], T = begin[n + 1] - b;
    lanes V[N];
    memcpy(V, states + n * N, sizeof V);
    for (int t = 0; t < T; t++) {
      for (int j = 0; j < N; j++) line[t * N + j] = squash(V[j]);
      step(V, line + t * N, tau + x[b + t] * P);
    }
    for (int t = 0; t < T && n > lines / 1000; t += 3)
      for (int j = 0; j < N; j++) lo[j] = least(lo[j], line[t * N + j]), hi[j] = largest(hi[j], line[t * N + j]);
    for (int t = T - 1; t >= 0; t--) {
      const lanes *a = line + t * N;
      int y = x[b + t];
      const lanes *q = tau + y * P, *q2 = squares + y * P;
      lanes *gy = g + y * P;
      for (int j = 0; j < N; j++) gy[j] += B[j];
      for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) gy[(i + 1) * N + j] += a[i] * B[j];
      if (n % every == 0) {
        lanes pairs[K];
        int k = 0;
        pairs[k++] = all(1.f);
        for (int i = 0; i < N; i++) {
          pairs[k++] = a[i];
          for (int h = 0; h <= i; h++) pairs[k++] = a[i] * a[h];
        }
        for (int j = 0; j < N; j++)
          for (k = 0; k < K; k++) blocks[(y * N + j) * K + k] += pairs[k] * m[j];
      }
      lanes next[N], next_m[N];
      for (int i = 0; i < N; i++) {
        const lanes *r = q + (i + 1) * N, *r2 = q2 + (i + 1) * N;
        lanes s = all(1.f) - a[i] * a[i], back = all(0.f), modulus = all(0.f), loop = r[i];
        for (int j = 0; j < N; j++) back += r[j] * B[j], modulus += r2[j] * m[j];
        modulus -= r2[i] * m[i];
        if (b + t == place[n]) {
          const lanes *wi = w + (i + 1) * symbols, *pn = p + n * symbols;
          lanes mean = all(0.f), variance = all(0.f);
          for (int k = 0; k < symbols; k++) mean += pn[k] * wi[k];
          for (int k = 0; k < symbols; k++) variance += pn[k] * (wi[k] - mean) * (wi[k] - mean);
          back += wi[correct[n]] - mean;
          modulus += variance;
        }
        next[i] = B[i] + s * back;
        loop = all(1.f) + loop * s;
        next_m[i] = s * s * modulus + loop * loop * m[i];
      }
      memcpy(B, next, sizeof B);
      memcpy(m, next_m, sizeof m);
    }
    if (n % FLUSH == 0) {
      for (int k = 0; k < A * P; k++)
        for (int l = 0; l < L; l++) G[k * L + l] += g[k][l];
      for (int k = 0; k < A * N * K; k++)
        for (int l = 0; l < L; l++) M[k * L + l] += (double)every * blocks[k][l];
      memset(g, 0, sizeof g);
      memset(blocks, 0, sizeof blocks);
    }
  }
  memcpy(start_gradient, B, sizeof B);
  memcpy(start_modulus, m, sizeof m);
  memcpy(low, lo, sizeof lo);
  memcpy(high, hi, sizeof hi);
}

/* (M~ + damping)^-1 G, block by block. */
void solve(const double *G, const double *M, double damping, double *step) {
  for (int y = 0; y < A; y++)
    for (int j = 0; j < N; j++)
      for (int l = 0; l < L; l++) {
        double m[N + 1][N + 1], r[N + 1];
        const double *s = M + (y * N + j) * K * L + l;
        for (int i = 0, k = 0; i <= N; i++)
          for (int h = 0; h <= i; h++) m[i][h] = s[k++ * L] + (i == h ? damping : 0);
        for (int i = 0; i <= N; i++) r[i] = G[((y * (N + 1) + i) * N + j) * L + l];
        for (int c = 0; c <= N; c++) {
          for (int q = 0; q < c; q++) m[c][c] -= m[c][q] * m[c][q];
          m[c][c] = sqrt(m[c][c] > 1e-12 ? m[c][c] : 1e-12);
          for (int i = c + 1; i <= N; i++) {
            for (int q = 0; q < c; q++) m[i][c] -= m[i][q] * m[c][q];
            m[i][c] /= m[c][c];
          }
        }
        for (int i = 0; i <= N; i++) {
          for (int q = 0; q < i; q++) r[i] -= m[i][q] * r[q];
          r[i] /= m[i][i];
        }
        for (int i = N; i >= 0; i--) {
          for (int q = i + 1; q <= N; q++) r[i] -= m[q][i] * r[q];
          r[i] /= m[i][i];
        }
        for (int i = 0; i <= N; i++) step[((y * (N + 1) + i) * N + j) * L + l] = r[i];
      }
}
