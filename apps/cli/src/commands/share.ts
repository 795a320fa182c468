import { resolve } from 'node:path'

import { command } from '../command.ts'
import { path } from '../local-client.ts'
import { renderTable, type Column } from '../table.ts'

interface Folder {
  readonly guestPath: string
  readonly hostPath: string
  readonly flags: number
}

const READ_ONLY = 0
const READ_WRITE = 4

const columns: readonly Column<Folder>[] = [
  { head: 'NAME', cell: ({ guestPath }) => guestPath },
  { head: 'IN THE GUEST', cell: ({ guestPath }) => `/mnt/shares/${guestPath}` },
  { head: 'ON THE HOST', cell: ({ hostPath }) => hostPath },
  { head: 'ACCESS', cell: ({ flags }) => (flags === READ_WRITE ? 'read and write' : 'read only') },
]

export const share = [
  command({
    name: 'share enable',
    asks: 'vmd',
    instead: 'copy files with scp to the address of skerry ip VM',
    usage: 'VM',
    summary: 'turn folder sharing on for a VM',
    examples: ['skerry share enable web'],
    next: 'skerry share add VM NAME DIRECTORY',
    async run({ api, print }, { words: [id = ''], json }) {
      const { body } = await api.ask<{ message: string }>('PATCH', path('vms', id, 'folders'), {
        body: 'true',
      })
      print(json ? JSON.stringify(body, null, 2) : `${id}: ${body.message}`)
    },
  }),
  command({
    name: 'share add',
    asks: 'vmd',
    instead: 'copy files with scp to the address of skerry ip VM',
    usage: 'VM NAME DIRECTORY',
    summary: 'show a directory of yours in the guest as /mnt/shares/NAME',
    examples: [
      'skerry share add web docs ~/docs',
      'skerry share add web music ~/music --read-only',
    ],
    next: 'skerry exec VM -- /bin/ls /mnt/shares/NAME',
    options: { 'read-only': { type: 'boolean', doc: 'the guest may not write' } },
    async run({ api, print }, { words: [id = '', guestPath = '', directory = ''], options, json }) {
      const where = path('vms', id, 'folders')
      const flags = options['read-only'] === true ? READ_ONLY : READ_WRITE
      // Whoever shares a folder wants sharing to be on; asking for it twice changes nothing.
      await api.ask('PATCH', where, { body: 'true' })
      const { body } = await api.ask<Folder>('POST', where, {
        body: { guestPath, hostPath: resolve(directory), flags },
      })
      print(
        json
          ? JSON.stringify(body, null, 2)
          : `${body.hostPath} is /mnt/shares/${body.guestPath} in ${id}`,
      )
    },
  }),
  command({
    name: 'share list',
    asks: 'vmd',
    instead: 'copy files with scp to the address of skerry ip VM',
    usage: 'VM',
    summary: 'the folders that a VM shares',
    examples: ['skerry share list web'],
    next: 'skerry share remove VM NAME takes one away',
    async run({ api, print, colours }, { words: [id = ''], json }) {
      const names = await api.ask<readonly string[]>('GET', path('vms', id, 'folders'))
      const folders = await Promise.all(
        names.body.map(
          async (name) => (await api.ask<Folder>('GET', path('vms', id, 'folders', name))).body,
        ),
      )
      print(json ? JSON.stringify(folders, null, 2) : renderTable(columns, folders, colours))
    },
  }),
  command({
    name: 'share remove',
    asks: 'vmd',
    instead: 'copy files with scp to the address of skerry ip VM',
    usage: 'VM NAME',
    summary: 'take a shared folder away; its files stay',
    examples: ['skerry share remove web docs'],
    next: 'skerry share list VM shows what is left',
    async run({ api, print }, { words: [id = '', name = ''], json }) {
      await api.ask('DELETE', path('vms', id, 'folders', name))
      print(json ? JSON.stringify({ removed: name }, null, 2) : `${id} shares ${name} no more`)
    },
  }),
]
