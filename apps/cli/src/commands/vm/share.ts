import { resolve } from 'node:path'

import { renderTable, type TableColumn } from '@skerry/command-line'

import { command } from '../../command.ts'
import { path } from '../../vms/local-client.ts'

interface Folder {
  readonly guestPath: string
  readonly hostPath: string
  readonly flags: number
}

const READ_ONLY = 0
const READ_WRITE = 4

const columns: readonly TableColumn<Folder>[] = [
  { head: 'NAME', cell: ({ guestPath }) => guestPath },
  { head: 'IN THE GUEST', cell: ({ guestPath }) => `/mnt/shares/${guestPath}` },
  { head: 'ON THE HOST', cell: ({ hostPath }) => hostPath },
  { head: 'ACCESS', cell: ({ flags }) => (flags === READ_WRITE ? 'read and write' : 'read only') },
]

export const share = [
  command({
    name: 'share enable',
    asks: 'vmd',
    instead: 'copy files with scp to the address that skerry address VM prints',
    usage: 'VM',
    summary: 'enable folder sharing for a VM',
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
    instead: 'copy files with scp to the address that skerry address VM prints',
    usage: 'VM NAME DIRECTORY',
    summary: 'share a directory with the guest as /mnt/shares/NAME',
    examples: [
      'skerry share add web docs ~/docs',
      'skerry share add web music ~/music --read-only',
    ],
    next: 'skerry exec VM -- /bin/ls /mnt/shares/NAME',
    options: { 'read-only': { type: 'boolean', doc: 'do not let the guest write' } },
    async run({ api, print }, { words: [id = '', guestPath = '', directory = ''], options, json }) {
      const where = path('vms', id, 'folders')
      const flags = options['read-only'] === true ? READ_ONLY : READ_WRITE
      // Sharing a folder implies enabling sharing; enabling it twice is harmless.
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
    instead: 'copy files with scp to the address that skerry address VM prints',
    usage: 'VM',
    summary: 'list the shared folders of a VM',
    examples: ['skerry share list web'],
    next: 'skerry share rm VM NAME removes one',
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
    name: 'share rm',
    asks: 'vmd',
    instead: 'copy files with scp to the address that skerry address VM prints',
    usage: 'VM NAME',
    summary: 'stop sharing a folder; its files stay',
    examples: ['skerry share rm web docs'],
    next: 'skerry share list VM lists the others',
    async run({ api, print }, { words: [id = '', name = ''], json }) {
      await api.ask('DELETE', path('vms', id, 'folders', name))
      print(
        json
          ? JSON.stringify({ removed: name }, null, 2)
          : `${name} is no longer shared with ${id}`,
      )
    },
  }),
]
