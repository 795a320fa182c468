// A worker context without the cloud and our database: definitions by digest, progress in memory, functions that take effect once
// per key, like the cloud's. In a separate process it can be killed; then its memory is a file.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

import type { Evaluator } from '@skerry/jq'
import type {
  DefinitionDocument,
  RunInput,
  HttpAnswer,
  HttpCall,
  Json,
  RunProgress,
} from '@skerry/serverless-workflow'
import { parse } from 'yaml'

import type { WorkflowWorkerContext } from '../src/runs/activities.ts'

export interface SmallServer extends WorkflowWorkerContext {
  readonly definitions: Map<string, { document: DefinitionDocument; input: Json }>
  readonly progress: RunProgress[]
  readonly ended: string[]
  /** Cloud calls: the number of requests of each key. One key is one effect. */
  readonly effects: Map<string, number>
}

export interface SmallServerOptions {
  readonly evaluator: Evaluator
  readonly callHttp?: (call: HttpCall, signal: AbortSignal) => Promise<HttpAnswer>
  /** The file that records effects, so that they survive the process. */
  readonly file?: string
  readonly pause?: (signal: AbortSignal) => Promise<void>
}

export function makeSmallServer(options: SmallServerOptions): SmallServer {
  const { evaluator, file } = options
  const definitions: SmallServer['definitions'] = new Map()
  const progress: RunProgress[] = []
  const ended: string[] = []
  const effects = new Map<string, number>()
  return {
    definitions,
    progress,
    ended,
    effects,
    evaluate: async (ask) => evaluator.evaluate(ask),
    validate: async (schema, value) => evaluator.validate(schema, value),
    async loadRun(run) {
      return definitions.get(run.definition) ?? loaded(run)
    },
    async record(reported) {
      progress.push(reported)
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
      if (options.callHttp === undefined) throw new Error('no egress in this test')
      return options.callHttp(call, signal)
    },
    openSecret: async (execution, name) => `secret ${name} of ${execution}`,
  }
}

const TYPES = 'https://serverlessworkflow.io/spec/1.0.0/errors/'
const refused = { type: `${TYPES}authorization`, status: 403, detail: 'not allowed' }
const noWorkflow = { type: `${TYPES}configuration`, status: 404, detail: 'no such workflow' }

export const begun = (id: string): RunInput => ({
  execution: id,
  grant: `grant-${id}`,
  definition: id,
})

/** In a separate process, a definition is a file. */
function loaded({ definition }: RunInput): { document: DefinitionDocument; input: Json } {
  if (!existsSync(definition)) throw new Error(`no definition ${definition}`)
  return { document: parse(readFileSync(definition, 'utf8')) as DefinitionDocument, input: {} }
}
