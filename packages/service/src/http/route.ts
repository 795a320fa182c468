import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

import type { Static, TObject, TSchema } from '@skerry/schema'

/** The body of a request: its description for the reference, and its parser. */
export interface Body<T> {
  readonly media: string
  /** For the reference: a JSON Schema, or the name of an XML element. */
  readonly shape: object | string
  read(raw: string): T
  /** For bodies that are too large to buffer: receives the byte stream. */
  open?(bytes: Readable, headers: IncomingHttpHeaders): T
}

/** The parameter names after ':' in a path. */
export type Names<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/**
 * A parameter named after a kind of resource is passed as that resource, loaded and authorised: a
 * handler never gets an unchecked id from a client. All others are strings.
 */
export type Params<Path extends string, Resources> = {
  readonly [Name in Names<Path>]: Name extends keyof Resources ? Resources[Name] : string
}

export interface RouteRequest<Path extends string, Resources, Query, Input> {
  readonly params: Params<Path, Resources>
  readonly query: Query
  readonly body: Input
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** An element, an object or a stream; the app's send.ts serialises it. */
  readonly body?: unknown
}

/**
 * One route of an API with all its properties. The server mounts it, the authorisation test
 * tries it with every credential, the reference prints it, metrics and traces use its name.
 */
export interface Route<Context, Caller, Permission extends string> {
  /** The verb, the same in every layer: 'changePower'. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly permission: Permission
  /** First API version that has it. */
  readonly since?: string
  readonly query?: TObject
  readonly takes?: Body<unknown>
  /** Status and body: a JSON Schema or the name of a document. */
  readonly answers: Readonly<Record<number, TSchema | string>>
  readonly doc: string
  // A method, not a property: routes of different inputs must fit into one array.
  handle(
    context: Context,
    ask: RouteRequest<string, unknown, unknown, unknown> & Caller,
  ): Promise<Answer>
}

/**
 * `const route = routeFactory<Context, Caller, Permission, Resources>()`, once per app; routes infer the rest. `More`: properties that
 * the routes of this app have besides.
 */
export function routeFactory<
  Context,
  Caller,
  Permission extends string,
  Resources = unknown,
  More = unknown,
>() {
  return <const Path extends string, Query extends TObject = TObject<{}>, Input = undefined>(
    row: Omit<Route<Context, Caller, Permission>, 'path' | 'query' | 'takes' | 'handle'> &
      More & {
        readonly path: Path
        readonly query?: Query
        readonly takes?: Body<Input>
        handle(
          context: Context,
          ask: RouteRequest<Path, Resources, Static<Query>, Input> & Caller,
        ): Promise<Answer>
      },
  ): Route<Context, Caller, Permission> & More => row
}

/** '/api/vApp/:vm' and {vm: 'vm-7'} → '/api/vApp/vm-7'. A missing parameter does not compile. */
export function fill<Path extends string>(path: Path, params: Params<Path, unknown>): string {
  const values = params as Readonly<Record<string, string>>
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
