import type { IncomingHttpHeaders } from 'node:http'

import type { Static, TObject, TSchema } from 'typebox'

/** What a request may carry: how it is named in the docs, and how it is read or refused. */
export interface Body<T> {
  readonly media: string
  /** For the reference: a JSON Schema, or the name of an XML element. */
  readonly shape: object | string
  read(raw: string): T
  /** For what is too large to be read first: the bytes as they come. */
  open?(bytes: AsyncIterable<Buffer>, headers: IncomingHttpHeaders): T
}

/** The words after ':' in a path. */
export type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/**
 * A parameter named after a kind of thing arrives as that thing, loaded and authorised: a
 * handler never holds an id that somebody else chose. All others are strings.
 */
export type Params<Path extends string, Things> = {
  readonly [Name in Names<Path>]: Name extends keyof Things ? Things[Name] : string
}

export interface Ask<Path extends string, Things, Query, Input> {
  readonly params: Params<Path, Things>
  readonly query: Query
  readonly body: Input
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** An element, an object or a stream; the app's send.ts knows how it is written. */
  readonly body?: unknown
}

/**
 * One row of an API: all there is to know about it. The server mounts it, the authorisation test
 * tries it with every credential, the reference prints it, metrics and traces are named by it.
 */
export interface Route<World, Asker, Permission extends string> {
  /** The verb, the same in every layer: 'changePower'. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly permission: Permission
  /** First version of the API that has it. */
  readonly since?: string
  readonly query?: TObject
  readonly takes?: Body<unknown>
  /** Status and what comes with it: a JSON Schema or the name of a document. */
  readonly answers: Readonly<Record<number, TSchema | string>>
  readonly doc: string
  // A method, not a property: rows of different inputs must fit into one array.
  handle(world: World, ask: Ask<string, unknown, unknown, unknown> & Asker): Promise<Answer>
}

/** `const route = rowsOf<World, Asker, Permission, Things>()`, once per app; rows infer the rest. */
export function rowsOf<World, Asker, Permission extends string, Things = unknown>() {
  return <const Path extends string, Query extends TObject = TObject<{}>, Input = undefined>(
    row: Omit<Route<World, Asker, Permission>, 'path' | 'query' | 'takes' | 'handle'> & {
      readonly path: Path
      readonly query?: Query
      readonly takes?: Body<Input>
      handle(world: World, ask: Ask<Path, Things, Static<Query>, Input> & Asker): Promise<Answer>
    },
  ): Route<World, Asker, Permission> => row
}

/** '/api/vApp/:vm' and {vm: 'vm-7'} → '/api/vApp/vm-7'. A missing parameter does not compile. */
export function fill<Path extends string>(path: Path, params: Params<Path, unknown>): string {
  const values = params as Readonly<Record<string, string>>
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
