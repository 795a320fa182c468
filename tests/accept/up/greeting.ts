// Prints the first bytes of the server behind the address of a screen's page, as that page requests them.
// Usage: node greeting.ts ADDRESS CERTIFICATES
import { readFile } from 'node:fs/promises'

import { greetingAt } from '../console/greeting.ts'

const [, , address = '', ca = ''] = process.argv
const ticket = decodeURIComponent(new URL(address).search.slice(1))
const { host, pathname, search } = new URL(ticket.replace(/^mks:/, 'https:'))
const wss = `wss://${host}/screen${pathname}${search}`
process.stdout.write(await greetingAt(wss, await readFile(ca, 'utf8')))
