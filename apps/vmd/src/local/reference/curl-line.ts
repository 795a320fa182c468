import type { DescribedRow } from '@skerry/service'

import type { SketchShape } from './sketch.ts'

/** Example values by parameter name; the examples work when run in order. */
const values: Readonly<Record<string, string | number>> = {
  id: 'vm-1',
  guestPath: 'docs',
  hostPath: '/home/me/docs',
  flags: 4,
  name: 'first',
  file: '/home/me/disk.qcow2',
  path: '/bin/uname',
  hostPort: 2222,
  guestPort: 22,
}

/** The curl command for this route, ready to paste into a shell. */
export function curlLine(row: DescribedRow, server: string): string {
  const path = row.path.replaceAll(/:(\w+)/g, (_, name: string) => String(values[name] ?? name))
  const body = row.takes && exampleOf(row.takes.shape as SketchShape)
  const method = row.method === (body === undefined ? 'GET' : 'POST') ? [] : ['-X', row.method]
  const data = body === undefined ? [] : ['-d', quoted(body)]
  const into = row.answers[200] === 'image/png' ? ['-o', 'screen.png'] : []
  return ['curl', ...method, ...into, ...data, `${server}${path}`].join(' ')
}

/** The first value of an enum; the required fields of an object, or else its first field. */
function exampleOf(shape: SketchShape): string {
  if (shape.enum) return String(shape.enum[0])
  const all = Object.keys(shape.properties ?? {})
  const names = shape.required && shape.required.length > 0 ? shape.required : all.slice(0, 1)
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, values[name] ?? name])))
}

const quoted = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text}'`)
