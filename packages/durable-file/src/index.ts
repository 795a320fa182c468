// @skerry/durable-file: files that are whole after a crash or a power cut.
export {
  copyDurably,
  giveToOwner,
  removeUnfinished,
  renameDurably,
  syncDirectory,
  writeDurably,
} from './durable-file.ts'
