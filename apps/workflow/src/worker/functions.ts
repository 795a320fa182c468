import { query } from '@skerry/cloud-client'
import { Type } from 'typebox'

import { closed, cloudFunction, type CloudFunction } from './function.ts'
import { ofVapp, ofVm } from './functions/entities.ts'
import { making } from './functions/make.ts'
import { notesOfVapp, notesOfVm } from './functions/notes.ts'
import { ofOneVm } from './functions/vm.ts'

/** Records of a page are held in one answer, which is written down with the run. */
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
  doc: `Records of the query service, as text by name of attribute: at most ${MOST_RECORDS}, 100 unless told.`,
  async call({ cloud, world }, { limit = 100, ...asked }) {
    return Array.fromAsync(query(cloud, { ...asked, limit }, world.signal))
  },
})

type Named<Prefix extends string, Rows> = {
  readonly [Name in keyof Rows & string as `${Prefix}.${Name}`]: CloudFunction
}

const named = <Prefix extends string, Rows extends Readonly<Record<string, CloudFunction>>>(
  prefix: Prefix,
  rows: Rows,
): Named<Prefix, Rows> =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [`${prefix}.${name}`, row]),
  ) as unknown as Named<Prefix, Rows>

/** Everything of ours that a definition may call. docs/reference/workflow-functions.md is made of this. */
export const functions = {
  'skerry.query': search,
  ...named('skerry.vm', { ...ofVm, ...ofOneVm, ...notesOfVm }),
  ...named('skerry.vapp', { ...ofVapp, ...making, ...notesOfVapp }),
} as const satisfies Readonly<Record<string, CloudFunction>>
export type FunctionName = keyof typeof functions

export const isFunction = (name: string): name is FunctionName => Object.hasOwn(functions, name)
