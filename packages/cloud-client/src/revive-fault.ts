import { Fault, faultKinds, type FaultKind } from '@skerry/fault'
import { attribute, localName, readXml, type Element } from '@skerry/xml'

import type { CloudAnswer } from './ask.ts'

/** What a status means where the answer says no more. */
const ofStatus: Readonly<Record<number, FaultKind>> = {
  ...{
    400: 'invalid',
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not-found',
    409: 'conflict',
  },
  ...{ 406: 'not-acceptable', 410: 'gone', 429: 'too-many', 504: 'timed-out' },
}

/** What the cloud threw, word for word, of the Error document that it came as. */
export function reviveFault({ status, headers, text }: CloudAnswer): Fault {
  const document = errorIn(text)
  if (document) return faultIn(document, headers['retry-after']?.toString())
  return new Fault(ofStatus[status] ?? 'unavailable', `the cloud answered with ${status}`, {
    cause: text.slice(0, 1000),
  })
}

/** Also of an Error inside of another document: that of a task which failed. */
export function faultIn(error: Element, detail?: string): Fault {
  const code = (attribute(error, 'minorErrorCode') ?? '').toLowerCase().replaceAll('_', '-')
  const kind =
    faultKinds.find((each) => each === code) ??
    ofStatus[Number(attribute(error, 'majorErrorCode'))] ??
    'unavailable'
  const message = attribute(error, 'message') ?? 'the cloud did not say why'
  return new Fault(kind, message, detail === undefined ? {} : { detail })
}

function errorIn(text: string): Element | undefined {
  try {
    const root = readXml(text)
    return localName(root.name) === 'Error' ? root : undefined
  } catch {
    // A proxy's page is none of ours; its status says what there is to say.
    return undefined
  }
}
