import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import type { Codec, TypedValue } from '../src/index.ts'

const INTS = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)]
const UINTS = [0, 1, 2 ** 31, 2 ** 32 - 1]
const HYPERS = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]
const UHYPERS = [0n, 1n, 2n ** 64n - 1n, 2n ** 63n]
const DOUBLES = [0, -0.5, Number.MAX_VALUE, Infinity]
const STRINGS = ['', 'a', 'vm-1', 'Großrechner', '日本', '🖥️ x', 'x'.repeat(300)]

/** A random value that the codec can encode, biased towards edge cases. */
export function arbitrary(codec: Codec<unknown>, random: SeededRandom): unknown {
  const { shape } = codec
  switch (shape.kind) {
    case 'int':
      return pick(INTS, random)
    case 'uint':
      return pick(UINTS, random)
    case 'hyper':
      return pick(HYPERS, random)
    case 'uhyper':
      return pick(UHYPERS, random)
    case 'double':
      return pick(DOUBLES, random)
    case 'string':
      return pick(STRINGS, random)
    case 'chars':
      return 'x'.repeat(random.below(shape.max))
    case 'fixed':
      return new Uint8Array(random.bytes(shape.length))
    case 'opaque':
      return new Uint8Array(random.bytes(random.below(Math.min(shape.max, 9) + 1)))
    case 'optional':
      return random.below(3) === 0 ? null : arbitrary(shape.of, random)
    case 'array': {
      const length = random.below(Math.min(shape.max, 4) + 1)
      return Array.from({ length }, () => arbitrary(shape.of, random))
    }
    case 'struct':
      return Object.fromEntries(
        Object.entries(shape.fields).map(([name, of]) => [name, arbitrary(of, random)]),
      )
    case 'typedParam':
      return { field: pick(STRINGS, random), value: arbitraryParam(random) }
    case 'nothing':
      break
  }
  return undefined
}

function arbitraryParam(random: SeededRandom): TypedValue {
  const values: TypedValue[] = [
    { type: 'int', value: pick(INTS, random) },
    { type: 'uint', value: pick(UINTS, random) },
    { type: 'llong', value: pick(HYPERS, random) },
    { type: 'ullong', value: pick(UHYPERS, random) },
    { type: 'double', value: pick(DOUBLES, random) },
    { type: 'boolean', value: random.below(2) === 0 },
    { type: 'string', value: pick(STRINGS, random) },
  ]
  return pick(values, random)
}

function pick<T>(from: readonly T[], random: SeededRandom): T {
  return from[random.below(from.length)] as T
}
