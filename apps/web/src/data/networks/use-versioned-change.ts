// Changes of a document that has a version. They name the version that the user saw: if somebody else was faster, nothing is written, and
// the user sees what changed and may make the same change again.
import { useState } from 'react'

import { ApiError, pathOf, request } from '../../api/client.ts'
import { curlCommand } from '../../model/commands.ts'
import { differenceOf, type LinesDifference } from '../../model/networks/lines-difference.ts'
import { notify, notifyError } from '../notifications.ts'
import { queryClient } from '../query-client.ts'

export interface VersionedDocument {
  readonly name: string
  readonly href: string
  /** Rises with each change. */
  readonly version?: number
}

/** How a kind of document is changed. */
export interface VersionedKind<Doc extends VersionedDocument, Change> {
  readonly method: 'POST' | 'PUT'
  /** Where changes are sent; undefined: the user may not. */
  readonly changeHref: (document: Doc) => string | undefined
  /** What is sent, without the version. */
  readonly bodyOf: (document: Doc, change: Change) => object
  /** What the document contains, a line each. */
  readonly linesOf: (document: Doc) => readonly string[]
}

export interface WantedChange<Change> {
  readonly change: Change
  /** What it does, such as 'Publishing port 443'. */
  readonly what: string
  readonly onDone?: () => void
}

export interface VersionConflict<Doc extends VersionedDocument, Change> {
  readonly wanted: WantedChange<Change>
  /** The document as it is now. */
  readonly now: Doc
  readonly difference: LinesDifference
}

const CONFLICT = 409

const versionedBody = <Doc extends VersionedDocument, Change>(
  { bodyOf }: VersionedKind<Doc, Change>,
  document: Doc,
  change: Change,
): object => ({
  ...(document.version !== undefined && { version: document.version }),
  ...bodyOf(document, change),
})

/** The change as a request on a terminal. */
export const versionedCurl = <Doc extends VersionedDocument, Change>(
  kind: VersionedKind<Doc, Change>,
  document: Doc,
  change: Change,
): string =>
  curlCommand(
    kind.method,
    pathOf(kind.changeHref(document) ?? document.href),
    versionedBody(kind, document, change),
  )

export function useVersionedChange<Doc extends VersionedDocument, Change>(
  kind: VersionedKind<Doc, Change>,
) {
  const [isPending, setPending] = useState(false)
  const [conflict, setConflict] = useState<VersionConflict<Doc, Change>>()
  const send = async (document: Doc, wanted: WantedChange<Change>): Promise<void> => {
    setPending(true)
    setConflict(undefined)
    try {
      await request(kind.changeHref(document) ?? '', {
        method: kind.method,
        body: versionedBody(kind, document, wanted.change),
      })
      notify({ tone: 'success', title: wanted.what })
      wanted.onDone?.()
    } catch (error) {
      const found =
        error instanceof ApiError && error.status === CONFLICT
          ? await conflictOf(kind, document, wanted)
          : undefined
      if (found) setConflict(found)
      else notifyError(`${document.name} was not changed`, error)
    }
    void queryClient.invalidateQueries()
    // Until the new version is read, the next change would be refused because of this one.
    const key = ['document', pathOf(document.href)]
    await queryClient.invalidateQueries({ queryKey: key }, { cancelRefetch: false })
    setPending(false)
  }
  return {
    send: (document: Doc, wanted: WantedChange<Change>): void => void send(document, wanted),
    isPending,
    conflict,
    leave: () => setConflict(undefined),
  }
}

/** undefined: the document is as the user saw it, so the reason is another one. */
async function conflictOf<Doc extends VersionedDocument, Change>(
  { linesOf }: VersionedKind<Doc, Change>,
  before: Doc,
  wanted: WantedChange<Change>,
): Promise<VersionConflict<Doc, Change> | undefined> {
  const now = await request<Doc>(before.href).catch(() => undefined)
  if (!now || now.version === before.version) return undefined
  return { wanted, now, difference: differenceOf(linesOf(before), linesOf(now)) }
}
