// Code of tests that runs in a page. It is typed with a document, so it is read as text and not imported.
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

/** A file of in-page as a script that leaves no names behind, but what it assigns to the window. */
export const inPage = (name: 'hostile' | 'probe' | 'readability'): string => {
  const text = readFileSync(join(import.meta.dirname, 'in-page', `${name}.ts`), 'utf8')
  return `{${stripTypeScriptTypes(text)}}`
}
