import FFT from 'fft.js'

/** The transform of frames of one size: spectra are pairs of real and imaginary part, `size` bins of them. */
export interface FrameFft {
  /** Spectrum of a real frame; all bins are filled. */
  forward(frame: ArrayLike<number>): Float64Array
  /** Real part of the inverse, of a spectrum whose lower half and middle alone need be filled. */
  inverse(spectrum: Float64Array): Float64Array
}

/** A transform of any even size: directly for a power of two, else by Bluestein's way over the next larger one. */
export function frameFft(size: number): FrameFft {
  const transform = Number.isInteger(Math.log2(size)) && size > 1 ? directly(size) : bluestein(size)
  return {
    forward: (frame) => {
      const complex = new Float64Array(2 * size)
      for (let i = 0; i < size; i++) complex[2 * i] = frame[i] ?? 0
      return transform(complex)
    },
    inverse: (spectrum) => {
      // The forward transform of the conjugate is the conjugate of the inverse: its real part is what is asked for.
      const conjugate = new Float64Array(2 * size)
      for (let bin = 0; bin <= size / 2; bin++) {
        const mirror = (size - bin) % size
        const re = spectrum[2 * bin] ?? 0
        // Bins that are their own mirror are real.
        const im = mirror === bin ? 0 : (spectrum[2 * bin + 1] ?? 0)
        conjugate[2 * bin] = re
        conjugate[2 * bin + 1] = -im
        conjugate[2 * mirror] = re
        conjugate[2 * mirror + 1] = im
      }
      const samples = transform(conjugate)
      return Float64Array.from({ length: size }, (_, i) => (samples[2 * i] ?? 0) / size)
    },
  }
}

type ComplexTransform = (complex: Float64Array) => Float64Array

function directly(size: number): ComplexTransform {
  const fft = new FFT(size)
  return (complex) => {
    const spectrum = new Float64Array(2 * size)
    fft.transform(spectrum, complex)
    return spectrum
  }
}

/** A transform of size N as a convolution with a chirp (Bluestein, 1970), at a power of two of at least 2N − 1. */
function bluestein(size: number): ComplexTransform {
  const wide = 2 ** Math.ceil(Math.log2(2 * size - 1))
  const fft = new FFT(wide)
  // n² modulo 2N is exact; the square itself would lose the angle's digits.
  const angle = (n: number) => (Math.PI * ((n * n) % (2 * size))) / size
  const chirp = Float64Array.from({ length: 2 * size }, (_, i) =>
    i % 2 === 0 ? Math.cos(angle(i / 2)) : -Math.sin(angle((i - 1) / 2)),
  )
  const kernel = new Float64Array(2 * wide)
  for (let n = 0; n < size; n++) {
    for (const at of [n, (wide - n) % wide]) {
      kernel[2 * at] = chirp[2 * n] ?? 0
      kernel[2 * at + 1] = -(chirp[2 * n + 1] ?? 0)
    }
  }
  const kernelSpectrum = new Float64Array(2 * wide)
  fft.transform(kernelSpectrum, kernel)
  return (complex) => {
    const padded = new Float64Array(2 * wide)
    padded.set(multiplied(complex, chirp, size))
    const spectrum = new Float64Array(2 * wide)
    fft.transform(spectrum, padded)
    const convolved = new Float64Array(2 * wide)
    fft.inverseTransform(convolved, multiplied(spectrum, kernelSpectrum, wide))
    return multiplied(convolved, chirp, size)
  }
}

/** The products of two rows of complex numbers. */
function multiplied(a: Float64Array, b: Float64Array, count: number): Float64Array {
  const product = new Float64Array(2 * count)
  for (let i = 0; i < count; i++) {
    const [aRe = 0, aIm = 0, bRe = 0, bIm = 0] = [a[2 * i], a[2 * i + 1], b[2 * i], b[2 * i + 1]]
    product[2 * i] = aRe * bRe - aIm * bIm
    product[2 * i + 1] = aRe * bIm + aIm * bRe
  }
  return product
}
