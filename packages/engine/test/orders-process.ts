// Starts one step and blocks forever at the given point; the parent process kills it there.
import { appendFile } from 'node:fs/promises'

import type { Order } from '@skerry/vm'

import { Orders } from '../src/orders/orders.ts'

const [directory = '', acts = '', stopAt = '', repeatable = '', text = ''] = process.argv.slice(2)
const order = JSON.parse(text) as Order
const orders = await Orders.open(directory)
const stay = () =>
  new Promise<never>(() => {
    process.stdout.write('here\n')
    setInterval(() => undefined, 1000)
  })
await orders.inOrder(
  order,
  { repeatable: repeatable === 'yes', life: 'begins' },
  {
    ready: async () => {
      if (stopAt === 'ready') await stay()
    },
    act: async () => {
      await appendFile(acts, `${order.key}\n`)
      return stay()
    },
  },
)
