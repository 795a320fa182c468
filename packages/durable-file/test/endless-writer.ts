// Writes the file of its first argument until it is killed.
import { writeDurably } from '../src/index.ts'

const file = process.argv[2] ?? ''
for (let round = 0; ; round += 1) {
  await writeDurably(file, (round % 2 === 0 ? 'a' : 'b').repeat(100_000))
  if (round === 0) process.send?.('begun')
}
