import { XdrError, type Codec } from './xdr.ts'

/** libvirt's virTypedParameter: a name, and a value with its type. */
export interface TypedParam {
  field: string
  value: TypedValue
}

export type TypedValue =
  | { type: 'int'; value: number }
  | { type: 'uint'; value: number }
  | { type: 'llong'; value: bigint }
  | { type: 'ullong'; value: bigint }
  | { type: 'double'; value: number }
  | { type: 'boolean'; value: boolean }
  | { type: 'string'; value: string }

// The names of virTypedParameterType in the order of their numbers, which start at 1.
const types = ['int', 'uint', 'llong', 'ullong', 'double', 'boolean', 'string'] as const
const numbers = new Map<string, number>(types.map((name, index) => [name, index + 1]))

const STRING_BYTES_MAX = 4_194_304

export const typedParam: Codec<TypedParam> = {
  shape: { kind: 'typedParam' },
  write(out, { field, value }) {
    out.string(field, STRING_BYTES_MAX)
    const number = numbers.get(value.type)
    if (number === undefined) throw new XdrError(`a parameter cannot be of type ${value.type}`)
    out.int(number)
    switch (value.type) {
      case 'int':
        return out.int(value.value)
      case 'uint':
        return out.uint(value.value)
      case 'llong':
        return out.hyper(value.value)
      case 'ullong':
        return out.uhyper(value.value)
      case 'double':
        return out.double(value.value)
      case 'boolean':
        return out.int(value.value ? 1 : 0)
      case 'string':
        return out.string(value.value, STRING_BYTES_MAX)
    }
  },
  read(from) {
    const field = from.string(STRING_BYTES_MAX)
    const number = from.int()
    switch (number) {
      case 1:
        return { field, value: { type: 'int', value: from.int() } }
      case 2:
        return { field, value: { type: 'uint', value: from.uint() } }
      case 3:
        return { field, value: { type: 'llong', value: from.hyper() } }
      case 4:
        return { field, value: { type: 'ullong', value: from.uhyper() } }
      case 5:
        return { field, value: { type: 'double', value: from.double() } }
      case 6:
        return { field, value: { type: 'boolean', value: from.int() !== 0 } }
      case 7:
        return { field, value: { type: 'string', value: from.string(STRING_BYTES_MAX) } }
      default:
        throw new XdrError(`a parameter of unknown type ${number}`)
    }
  },
}

/** Creates one parameter: `param.string(MigrateParam.uri, 'tcp://…')`. */
export const param = {
  int: (field: string, value: number): TypedParam => ({ field, value: { type: 'int', value } }),
  uint: (field: string, value: number): TypedParam => ({ field, value: { type: 'uint', value } }),
  llong: (field: string, value: bigint): TypedParam => ({ field, value: { type: 'llong', value } }),
  ullong: (field: string, value: bigint): TypedParam => ({
    field,
    value: { type: 'ullong', value },
  }),
  double: (field: string, value: number): TypedParam => ({
    field,
    value: { type: 'double', value },
  }),
  boolean: (field: string, value: boolean): TypedParam => ({
    field,
    value: { type: 'boolean', value },
  }),
  string: (field: string, value: string): TypedParam => ({
    field,
    value: { type: 'string', value },
  }),
} as const

/** The value of the first parameter with this name. */
export function readParam(
  params: readonly TypedParam[],
  field: string,
): TypedValue['value'] | undefined {
  return params.find((one) => one.field === field)?.value.value
}

/** An integer parameter, regardless of the integer type that the server chose. */
export function readCount(params: readonly TypedParam[], field: string): bigint | undefined {
  const value = readParam(params, field)
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined
}

/** A text parameter. */
export function readText(params: readonly TypedParam[], field: string): string | undefined {
  const value = readParam(params, field)
  return typeof value === 'string' ? value : undefined
}

/** All parameters by name. The last one wins if a name occurs twice. */
export function paramsToMap(params: readonly TypedParam[]): Map<string, TypedValue['value']> {
  return new Map(params.map(({ field, value }) => [field, value.value]))
}
