/**
 * Solves `matrix · x = right` for a Hermitian positive matrix, by Cholesky's way without square roots. All are pairs of
 * real and imaginary part, the matrix row by row; only its lower half is read. Both are overwritten: `right` with x.
 */
export function solveHermitian(matrix: Float64Array, right: Float64Array, size: number): void {
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= row; column++) {
      let re = matrix[2 * (row * size + column)] ?? 0
      let im = matrix[2 * (row * size + column) + 1] ?? 0
      for (let k = 0; k < column; k++) {
        const a = 2 * (row * size + k)
        const b = 2 * (column * size + k)
        const pivot = matrix[2 * (k * size + k)] ?? 0
        re -= pivot * ((matrix[a] ?? 0) * (matrix[b] ?? 0) + (matrix[a + 1] ?? 0) * (matrix[b + 1] ?? 0))
        im -= pivot * ((matrix[a + 1] ?? 0) * (matrix[b] ?? 0) - (matrix[a] ?? 0) * (matrix[b + 1] ?? 0))
      }
      const pivot = column < row ? (matrix[2 * (column * size + column)] ?? 1) : 1
      matrix[2 * (row * size + column)] = re / pivot
      matrix[2 * (row * size + column) + 1] = column < row ? im / pivot : 0
    }
  }
  for (let row = 0; row < size; row++) {
    for (let k = 0; k < row; k++) subtract(right, row, k, matrix, 2 * (row * size + k), 1)
  }
  for (let row = size - 1; row >= 0; row--) {
    const pivot = matrix[2 * (row * size + row)] ?? 1
    right[2 * row] = (right[2 * row] ?? 0) / pivot
    right[2 * row + 1] = (right[2 * row + 1] ?? 0) / pivot
    for (let k = row + 1; k < size; k++) subtract(right, row, k, matrix, 2 * (k * size + row), -1)
  }
}

/** `right[row] −= factor · right[k]`; a sign of −1 takes the factor's conjugate. */
function subtract(right: Float64Array, row: number, k: number, matrix: Float64Array, at: number, sign: number): void {
  const re = matrix[at] ?? 0
  const im = sign * (matrix[at + 1] ?? 0)
  const xRe = right[2 * k] ?? 0
  const xIm = right[2 * k + 1] ?? 0
  right[2 * row] = (right[2 * row] ?? 0) - (re * xRe - im * xIm)
  right[2 * row + 1] = (right[2 * row + 1] ?? 0) - (re * xIm + im * xRe)
}
