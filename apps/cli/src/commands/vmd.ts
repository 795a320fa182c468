import { join } from 'node:path'

import { command } from '../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../vmd/src/main.ts')

/** Its options are read by the daemon itself; here they are told and completed. A test compares the two. */
export const vmd = command({
  name: 'vmd',
  asks: 'nobody',
  usage: '',
  summary: 'run the daemon here, as root; ends with Ctrl-C, and guests go on',
  examples: ['sudo skerry vmd', 'sudo skerry vmd --port 8081 --token-file /root/skerry-token'],
  next: 'skerry doctor in another terminal, then sudo skerry template build',
  exits: '1 when it cannot start, 2 for an option that it does not know',
  options: {
    port: {
      type: 'string',
      value: 'N',
      doc: 'where to listen on 127.0.0.1 and [::1]; 8080 unless told',
    },
    'libvirt-socket': {
      type: 'string',
      value: 'PATH',
      doc: '/run/libvirt/libvirt-sock unless told',
    },
    'token-file': {
      type: 'string',
      value: 'PATH',
      doc: 'every request must carry the word in this file, of mode 0600: Authorization: Bearer WORD',
    },
    'unix-socket': {
      type: 'string',
      value: 'PATH',
      doc: 'answer here too, to root and the group skerry; folders cannot be shared by this way',
    },
    bridge: {
      type: 'string',
      value: 'NAME',
      doc: "VMs may join this bridge of the machine when they are asked to, and are then outside of vmd's wall; may be given several times",
    },
    restore: {
      type: 'string',
      value: 'WHICH',
      doc: 'after a start of the machine: autostart (those set to, and those it stopped in order) or previous (all that ran)',
    },
    'on-stop': {
      type: 'string',
      value: 'WAY',
      doc: 'what becomes of guests when vmd is stopped: leave (they run on, unless told), suspend or shutdown',
    },
    'host-api': {
      type: 'string',
      value: 'ADDRESS:PORT',
      doc: 'where the cells of its cloud ask, once this machine has joined one; [::]:8443 unless told',
    },
    'shutdown-timeout': {
      type: 'string',
      value: 'S',
      doc: 'how many seconds a guest may take to shut itself down; 60 unless told',
    },
    'stop-guests': {
      type: 'string',
      value: 'WAY',
      doc: 'ask the vmd that runs to suspend or shutdown all guests, as before the machine goes down',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
