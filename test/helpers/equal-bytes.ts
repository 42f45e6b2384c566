import { expect } from 'vitest'

const bytesOf = (view: ArrayBufferView) => Buffer.from(view.buffer, view.byteOffset, view.byteLength)

// Element by element, two files of a megabyte take seconds to compare. Equal bytes are equal; vitest judges all others.
expect.addEqualityTesters([
  (a, b) =>
    ArrayBuffer.isView(a) && ArrayBuffer.isView(b) && a.constructor === b.constructor && bytesOf(a).equals(bytesOf(b))
      ? true
      : undefined,
])
