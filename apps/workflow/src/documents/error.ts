import { field, resource, type Document } from './document.ts'

/** An error response, always in the requested format. */
export const errorDocument = ({
  status,
  code,
  message,
  hint,
}: Readonly<{ status: number; code: string; message: string; hint?: string }>): Document =>
  resource(
    'error',
    {},
    field('status', status),
    field('code', code),
    field('message', message),
    field('hint', hint),
  )
