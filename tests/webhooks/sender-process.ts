// A cell's part that sends webhooks, in its own process, so that it can be killed: node sender-process.ts '{"url", "sealKey", "socket"}'
import { randomBytes } from 'node:crypto'

import { openDatabase } from '@skerry/postgres'
import { makeSeal } from '@skerry/service'

import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import { makeCursors } from '../../apps/cloud/src/feeds/event-cursors.ts'
import { postThrough } from '../../apps/cloud/src/webhooks/egress.ts'
import { WebhookSender } from '../../apps/cloud/src/webhooks/send-webhooks.ts'
import { BASE, type SenderOptions } from './webhook-site.ts'

const { url, sealKey, socket } = JSON.parse(process.argv[2] ?? '') as SenderOptions
const seal = makeSeal(
  () => sealKey,
  () => randomBytes(12),
)
const sender = new WebhookSender({
  db: openDatabase<CloudTables>({ url, applicationName: 'sender', size: 4 }),
  post: postThrough(socket),
  seal,
  cursors: makeCursors(() => sealKey),
  base: new URL(BASE),
  log: (message, cause) => void process.stderr.write(`${message} ${String(cause)}\n`),
  now: () => performance.now(),
  random: () => Math.random(),
})
process.stdout.write('sends\n')
process.on('SIGTERM', () => void sender[Symbol.asyncDispose]().then(() => process.exit(0)))
