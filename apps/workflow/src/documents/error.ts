import { field, thing, type Document } from './document.ts'

/** What was not done, and why: in the asked format, always. */
export const errorDocument = ({
  status,
  code,
  message,
  hint,
}: Readonly<{ status: number; code: string; message: string; hint?: string }>): Document =>
  thing(
    'error',
    {},
    field('status', status),
    field('code', code),
    field('message', message),
    field('hint', hint),
  )
