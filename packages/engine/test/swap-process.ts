// Lets a name be a directory and a link to another by turns, for moments of different length, until its parent goes.
import { renameSync } from 'node:fs'

const [door = '', directory = '', link = ''] = process.argv.slice(2)
process.send?.('ready')
process.on('disconnect', () => process.exit())

const bell = new Int32Array(new SharedArrayBuffer(4))
let round = 0
function swap(): void {
  for (const each of [directory, link]) {
    renameSync(each, door)
    Atomics.wait(bell, 0, 0, (round += 1) % 5)
    renameSync(door, each)
  }
  setImmediate(swap)
}
swap()
