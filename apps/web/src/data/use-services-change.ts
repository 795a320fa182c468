// Changes of the rules of an edge gateway. They name the version that the user saw: if somebody else was faster, nothing is written, and
// the user sees what changed and may make the same change again.
import { useState } from 'react'

import { ApiError, request } from '../api/client.ts'
import { linkOf } from '../api/documents.ts'
import type { EdgeGatewayDocument, EdgeServicesDocument } from '../api/edge-documents.ts'
import { differenceOf, servicesOf, type ServicesChange } from '../model/edge-gateway.ts'
import type { ServicesDifference } from '../model/edge-gateway.ts'
import { notify, notifyError } from './notifications.ts'
import { queryClient } from './query-client.ts'

export interface WantedChange {
  readonly change: ServicesChange
  /** What it does, such as 'Publishing port 443'. */
  readonly what: string
  readonly onDone?: () => void
}

export interface ServicesConflict {
  readonly wanted: WantedChange
  /** The edge gateway as it is now. */
  readonly now: EdgeGatewayDocument
  readonly difference: ServicesDifference
}

const CONFLICT = 409

/** The services that the change touches, with the version that they are based on. */
export const servicesBody = (
  gateway: EdgeGatewayDocument,
  change: ServicesChange,
): EdgeServicesDocument & { readonly version?: number } => ({
  ...(gateway.version !== undefined && { version: gateway.version }),
  ...change(servicesOf(gateway)),
})

export const configureHref = (gateway: EdgeGatewayDocument): string | undefined =>
  linkOf(gateway, 'edgeGateway:configureServices')

export function useServicesChange() {
  const [isPending, setPending] = useState(false)
  const [conflict, setConflict] = useState<ServicesConflict>()
  const send = async (gateway: EdgeGatewayDocument, wanted: WantedChange): Promise<void> => {
    setPending(true)
    setConflict(undefined)
    try {
      await request(configureHref(gateway) ?? '', {
        method: 'POST',
        body: servicesBody(gateway, wanted.change),
      })
      notify({ tone: 'success', title: wanted.what })
      wanted.onDone?.()
    } catch (error) {
      const found =
        error instanceof ApiError && error.status === CONFLICT
          ? await conflictOf(gateway, wanted)
          : undefined
      if (found) setConflict(found)
      else notifyError(`${gateway.name} was not changed`, error)
    }
    setPending(false)
    void queryClient.invalidateQueries()
  }
  return {
    send: (gateway: EdgeGatewayDocument, wanted: WantedChange): void => void send(gateway, wanted),
    isPending,
    conflict,
    leave: () => setConflict(undefined),
  }
}

/** undefined: the edge gateway is as the user saw it, so the reason is another one. */
async function conflictOf(
  before: EdgeGatewayDocument,
  wanted: WantedChange,
): Promise<ServicesConflict | undefined> {
  const now = await request<EdgeGatewayDocument>(before.href).catch(() => undefined)
  if (!now || now.version === before.version) return undefined
  return { wanted, now, difference: differenceOf(servicesOf(before), servicesOf(now)) }
}
