// A worker's world without the cloud and without our database: definitions by digest, progress in memory, functions that take effect
// once per key, as the cloud's do. In a process of its own it is killed; then its memory is a file.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

import { parse } from 'yaml'

import type { Document } from '../src/definition/definition.ts'
import type { RunInput } from '../src/durable/states.ts'
import type { HttpAnswer, HttpCall, Json, Progress } from '../src/durable/verbs.ts'
import type { WorkerWorld } from '../src/worker/activities.ts'
import type { Evaluator } from '../src/worker/evaluate.ts'

export interface SmallServer extends WorkerWorld {
  readonly definitions: Map<string, { document: Document; input: Json }>
  readonly progress: Progress[]
  readonly ended: string[]
  /** Of the cloud: every key with how often it was asked for. One key is one effect. */
  readonly effects: Map<string, number>
}

export interface SmallServerOptions {
  readonly evaluator: Evaluator
  readonly callHttp?: (call: HttpCall, signal: AbortSignal) => Promise<HttpAnswer>
  /** Where effects are written down, so that they outlive the process. */
  readonly file?: string
  readonly pause?: (signal: AbortSignal) => Promise<void>
}

export function makeSmallServer(options: SmallServerOptions): SmallServer {
  const { evaluator, file } = options
  const definitions: SmallServer['definitions'] = new Map()
  const progress: Progress[] = []
  const ended: string[] = []
  const effects = new Map<string, number>()
  return {
    ...{ definitions, progress, ended, effects },
    evaluate: async (ask) => evaluator.evaluate(ask),
    validate: async (schema, value) => evaluator.validate(schema, value),
    async loadRun(run) {
      return definitions.get(run.definition) ?? loaded(run)
    },
    async record(told) {
      progress.push(told)
    },
    async beginChild({ parent, key, name, input }) {
      const child = `${key.replaceAll('/', '-')}-${name}`
      const found = definitions.get(name)
      if (found === undefined) throw Object.assign(new Error(name), { problem: noWorkflow })
      definitions.set(child, { document: found.document, input })
      return { ...begun(child), depth: (parent.depth ?? 0) + 1 }
    },
    async beginScheduled(schedule, key) {
      return { execution: key.replaceAll('/', '-'), grant: 'of-schedule', definition: schedule }
    },
    async endGrant(grant) {
      ended.push(grant)
    },
    async callFunction({ key, name, input }, { signal }) {
      if (name === 'skerry.test.slow') await options.pause?.(signal)
      if (name === 'skerry.test.no') throw Object.assign(new Error('no'), { problem: refused })
      effects.set(key, (effects.get(key) ?? 0) + 1)
      if (file !== undefined) appendFileSync(file, `${key}\n`)
      return { key, input }
    },
    async callHttp(call, signal) {
      if (options.callHttp === undefined) throw new Error('no way out here')
      return options.callHttp(call, signal)
    },
    openSecret: async (execution, name) => `secret ${name} of ${execution}`,
  }
}

const TYPES = 'https://serverlessworkflow.io/spec/1.0.0/errors/'
const refused = { type: `${TYPES}authorization`, status: 403, detail: 'not allowed' }
const noWorkflow = { type: `${TYPES}configuration`, status: 404, detail: 'no such workflow' }

export const begun = (id: string): RunInput => ({
  ...{ execution: id, grant: `grant-${id}`, definition: id },
})

/** In a process of its own, a definition is a file. */
function loaded({ definition }: RunInput): { document: Document; input: Json } {
  if (!existsSync(definition)) throw new Error(`no definition ${definition}`)
  return { document: parse(readFileSync(definition, 'utf8')) as Document, input: {} }
}
