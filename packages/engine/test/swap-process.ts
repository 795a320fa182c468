// Makes a name alternately one directory and another, or a link to it, for varying durations, until its parent exits. It answers
// any message with the number of changes of the name.
import { renameSync } from 'node:fs'

const [api = '', directory = '', other = '', uid] = process.argv.slice(2)
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
    renameSync(each, api)
    Atomics.wait(bell, 0, 0, (swaps += 1) % 5)
    renameSync(api, each)
  }
  setImmediate(swap)
}
swap()
