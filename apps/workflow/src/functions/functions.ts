import { query } from '@skerry/cloud-client'
import { Type } from '@skerry/schema'

import { ofVapp, ofVm } from './entities.ts'
import { closed, cloudFunction, type CloudFunction } from './function.ts'
import { making } from './make.ts'
import { notesOfVapp, notesOfVm } from './notes.ts'
import { ofOneVm } from './vm.ts'

/** The records are returned in one result, which is stored in the history of the run. */
const MOST_RECORDS = 1000

const search = cloudFunction({
  input: Type.Object(
    {
      type: Type.String({ maxLength: 50, description: 'vm, vApp, task, vAppTemplate, catalog, …' }),
      filter: Type.Optional(Type.String({ maxLength: 4096 })),
      fields: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 50 })),
      sortAsc: Type.Optional(Type.String({ maxLength: 50 })),
      sortDesc: Type.Optional(Type.String({ maxLength: 50 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_RECORDS })),
    },
    closed,
  ),
  output: Type.Array(Type.Record(Type.String(), Type.String())),
  doc: `Returns records of the query service, as texts by attribute name: at most ${MOST_RECORDS} (default: 100).`,
  async call({ cloud, context }, { limit = 100, ...requested }) {
    return Array.fromAsync(query(cloud, { ...requested, limit }, context.signal))
  },
})

type WithPrefix<Prefix extends string, Rows> = {
  readonly [Name in keyof Rows & string as `${Prefix}.${Name}`]: CloudFunction
}

const withPrefix = <Prefix extends string, Rows extends Readonly<Record<string, CloudFunction>>>(
  prefix: Prefix,
  rows: Rows,
): WithPrefix<Prefix, Rows> =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [`${prefix}.${name}`, row]),
  ) as unknown as WithPrefix<Prefix, Rows>

/** All built-in functions. docs/reference/workflow-functions.md is generated from this. */
export const functions = {
  'skerry.query': search,
  ...withPrefix('skerry.vm', { ...ofVm, ...ofOneVm, ...notesOfVm }),
  ...withPrefix('skerry.vapp', { ...ofVapp, ...making, ...notesOfVapp }),
} as const satisfies Readonly<Record<string, CloudFunction>>
export type FunctionName = keyof typeof functions

export const isFunction = (name: string): name is FunctionName => Object.hasOwn(functions, name)
