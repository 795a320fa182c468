export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** Several expressions on the same value. */
export interface Evaluation {
  readonly expressions: readonly string[]
  readonly on: Json
  readonly variables: JsonObject
}
export type Evaluated = { readonly value: Json } | { readonly wrong: string }

/** A validation error and its place in the value, as a JSON pointer. */
export interface InvalidValue {
  readonly at: string
  readonly message: string
}
