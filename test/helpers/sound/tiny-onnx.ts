interface Value {
  readonly name: string
  readonly shape: readonly number[]
}

export interface TinyGraph {
  readonly inputs: readonly Value[]
  readonly outputs: readonly Value[]
  readonly constants: readonly (Value & { readonly values: readonly number[] })[]
  readonly nodes: readonly { readonly op: string; readonly inputs: readonly string[]; readonly output: string }[]
}

/** An ONNX file of 32-bit floats, written by hand: the few fields of its protobuf that a runtime needs. */
export function tinyOnnx({ inputs, outputs, constants, nodes }: TinyGraph): Buffer {
  const graph = [
    ...nodes.map(({ op, inputs, output }) =>
      message(1, [...inputs.map((name) => text(1, name)), text(2, output), text(3, output), text(4, op)]),
    ),
    text(2, 'tiny'),
    ...constants.map(({ name, shape, values }) => {
      const raw = Buffer.from(Float32Array.from(values).buffer)
      return message(5, [...shape.map((size) => integer(1, size)), integer(2, 1), text(8, name), bytes(9, raw)])
    }),
    ...inputs.map((value) => message(11, valueInfo(value))),
    ...outputs.map((value) => message(12, valueInfo(value))),
  ]
  return Buffer.concat([integer(1, 8), message(7, graph), message(8, [text(1, ''), integer(2, 13)])])
}

function valueInfo({ name, shape }: Value): Buffer[] {
  const dimensions = message(
    2,
    shape.map((size) => message(1, [integer(1, size)])),
  )
  return [text(1, name), message(2, [message(1, [integer(1, 1), dimensions])])]
}

function varint(value: number): Buffer {
  const out: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) | 128)
  return Buffer.from([...out, rest])
}

const integer = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)])
const bytes = (field: number, value: Buffer) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value])
const text = (field: number, value: string) => bytes(field, Buffer.from(value))
const message = (field: number, parts: readonly Buffer[]) => bytes(field, Buffer.concat(parts))
