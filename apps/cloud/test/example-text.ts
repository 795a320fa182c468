import { renderElement } from '@skerry/xml'

import type { ExampleContext, RequestDocument } from '../src/params/request-document.ts'

/** The example of a request document, as a client would send it. Default: it names no other resource. */
export const exampleText = (
  { example }: Pick<RequestDocument<unknown>, 'example'>,
  at: ExampleContext = { template: '', vapp: '' },
): string => renderElement(example(at))
