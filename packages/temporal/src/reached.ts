import type { TemporalClient } from './connect.ts'

/** Whether Temporal answers and knows the client's namespace. */
export async function isReached(temporal: TemporalClient, timeoutMs = 2_000): Promise<boolean> {
  const { namespace } = temporal
  return temporal
    .within(({ workflowService }) => workflowService.describeNamespace({ namespace }), timeoutMs)
    .then(
      () => true,
      () => false,
    )
}
