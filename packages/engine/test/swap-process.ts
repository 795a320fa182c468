// Lets a name be one directory and another, or a link to it, by turns, for moments of different length, until its parent
// goes. Whatever it is told, it answers with how many times the name has changed.
import { renameSync } from 'node:fs'

const [door = '', directory = '', other = '', uid] = process.argv.slice(2)
if (uid !== undefined) {
  process.setgroups?.([])
  process.setgid?.(Number(uid))
  process.setuid?.(Number(uid))
}
const bell = new Int32Array(new SharedArrayBuffer(4))
let swaps = 0
process.send?.('ready')
process.on('message', () => process.send?.(swaps))
process.on('disconnect', () => process.exit())

function swap(): void {
  for (const each of [directory, other]) {
    renameSync(each, door)
    Atomics.wait(bell, 0, 0, (swaps += 1) % 5)
    renameSync(door, each)
  }
  setImmediate(swap)
}
swap()
