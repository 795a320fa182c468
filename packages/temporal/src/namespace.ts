// Namespaces, which must be there before anything can run, and again after Temporal's database was lost.
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import { isGrpcServiceError } from '@temporalio/client'

import type { TemporalClient } from './connect.ts'

export interface NamespaceOptions {
  /** How long ended runs are kept; 3 unless told. */
  readonly retentionDays?: number
  /** How long to go on trying while the server is away; for ever unless told. */
  readonly patienceMs?: number
  readonly signal?: AbortSignal
}

/** gRPC's numbers. */
const ALREADY_EXISTS = 6
const NOT_FOUND = 5
const PAUSE_MS = 500
const DAY_S = 86_400

/** Makes sure that the client's namespace is there and can be used. */
export async function ensureNamespace(
  temporal: TemporalClient,
  options: NamespaceOptions = {},
): Promise<void> {
  const began = performance.now()
  for (;;) {
    try {
      await registerOnce(temporal, options.retentionDays ?? 3)
      return
    } catch (error) {
      const waited = performance.now() - began
      if (!passes(error) || waited > (options.patienceMs ?? Infinity)) throw error
    }
    await sleep(PAUSE_MS, undefined, options.signal && { signal: options.signal })
  }
}

async function registerOnce(temporal: TemporalClient, days: number): Promise<void> {
  const { namespace } = temporal
  await temporal.within(async ({ workflowService }) => {
    // Asking first: registering is a write, and each cell does this at every start and each minute.
    const known = await workflowService.describeNamespace({ namespace }).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === NOT_FOUND) return false
        throw error
      },
    )
    if (!known) {
      // The type wants a 64-bit number of a library's own; a plain one does.
      const kept = { seconds: (days * DAY_S) as never }
      await workflowService
        .registerNamespace({ namespace, workflowExecutionRetentionPeriod: kept })
        .catch((error: unknown) => {
          // Another cell was quicker.
          if (codeOf(error) !== ALREADY_EXISTS) throw error
        })
    }
    // Registered is not yet usable: the server's services read their list of namespaces now and then.
    await workflowService.listWorkflowExecutions({ namespace, pageSize: 1 })
  })
}

function passes(error: unknown): boolean {
  if (error instanceof Fault) return error.kind === 'unavailable'
  return codeOf(error) === NOT_FOUND
}

function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined
}
