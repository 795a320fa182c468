import { Fault, faultKinds, type FaultKind } from '@skerry/fault'
import { attribute, localName, readXml, type Element } from '@skerry/xml'

import type { CloudAnswer } from './ask.ts'

/** The fault kind of a status, for a response without an Error document. */
const ofStatus: Readonly<Record<number, FaultKind>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  406: 'not-acceptable',
  410: 'gone',
  429: 'too-many',
  504: 'timed-out',
}

/** Restores the Fault that the cloud sent as an Error document. */
export function reviveFault({ status, headers, text }: CloudAnswer): Fault {
  const document = errorIn(text)
  if (document) return faultIn(document, headers['retry-after']?.toString())
  return new Fault(ofStatus[status] ?? 'unavailable', `the cloud returned status ${status}`, {
    cause: text.slice(0, 1000),
  })
}

/** The Fault of an Error element, also inside another document such as a failed task. */
export function faultIn(error: Element, detail?: string): Fault {
  const code = (attribute(error, 'minorErrorCode') ?? '').toLowerCase().replaceAll('_', '-')
  const kind =
    faultKinds.find((each) => each === code) ??
    ofStatus[Number(attribute(error, 'majorErrorCode'))] ??
    'unavailable'
  const message = attribute(error, 'message') ?? 'the cloud gave no reason'
  return new Fault(kind, message, detail === undefined ? {} : { detail })
}

function errorIn(text: string): Element | undefined {
  try {
    const root = readXml(text)
    return localName(root.name) === 'Error' ? root : undefined
  } catch {
    // Not our document, e.g. the page of a proxy; the status is all there is.
    return undefined
  }
}
