// Namespaces, which must exist before anything can run, and be created again if Temporal's database was lost.
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import { isGrpcServiceError } from '@temporalio/client'

import type { TemporalClient } from './connect.ts'

export interface NamespaceOptions {
  /** How long ended runs are kept; default: 3. */
  readonly retentionDays?: number
  /** How long to retry while the server is unreachable; default: for ever. */
  readonly patienceMs?: number
  readonly signal?: AbortSignal
}

/** gRPC codes. */
const ALREADY_EXISTS = 6
const NOT_FOUND = 5
const PAUSE_MS = 500
const DAY_S = 86_400

/** Ensures that the client's namespace exists and is usable. */
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
      if (!isTransient(error) || waited > (options.patienceMs ?? Infinity)) throw error
    }
    await sleep(PAUSE_MS, undefined, options.signal && { signal: options.signal })
  }
}

async function registerOnce(temporal: TemporalClient, days: number): Promise<void> {
  const { namespace } = temporal
  await temporal.within(async ({ workflowService }) => {
    // Reads first: registering is a write, and each cell calls this at every start and every few seconds.
    const known = await workflowService.describeNamespace({ namespace }).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === NOT_FOUND) return false
        throw error
      },
    )
    if (!known) {
      // The type asks for a 64-bit type of a library; a plain number works.
      const kept = { seconds: (days * DAY_S) as never }
      await workflowService
        .registerNamespace({ namespace, workflowExecutionRetentionPeriod: kept })
        .catch((error: unknown) => {
          // Another cell was faster.
          if (codeOf(error) !== ALREADY_EXISTS) throw error
        })
    }
    // A registered namespace is not usable at once: Temporal's services read their list of namespaces periodically.
    await workflowService.listWorkflowExecutions({ namespace, pageSize: 1 })
  })
}

function isTransient(error: unknown): boolean {
  if (error instanceof Fault) return error.kind === 'unavailable'
  return codeOf(error) === NOT_FOUND
}

function codeOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined
}
