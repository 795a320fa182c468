import { join } from 'node:path'

import { command } from '../../command.ts'

const PROGRAM = join(import.meta.dirname, '../../../../vmd/src/main.ts')

/** vmd parses its own options; here they are only documented and completed. A test compares the two. */
export const vmd = command({
  name: 'vmd',
  asks: 'none',
  program: 'server',
  usage: '',
  summary: 'run the daemon in the foreground, as root; Ctrl-C stops it and guests keep running',
  examples: ['sudo skerry vmd', 'sudo skerry vmd --port 8081 --token-file /root/skerry-token'],
  next: 'skerry doctor in another terminal, then sudo skerry template build',
  exits: '1 if it cannot start, 2 for an unknown option',
  options: {
    port: {
      type: 'string',
      value: 'N',
      doc: 'port on 127.0.0.1 and [::1] (default: 8080)',
    },
    'libvirt-socket': {
      type: 'string',
      value: 'PATH',
      doc: "libvirt's socket (default: /run/libvirt/libvirt-sock)",
    },
    'token-file': {
      type: 'string',
      value: 'PATH',
      doc: 'require the token in this file (mode 0600) with every request: Authorization: Bearer TOKEN',
    },
    'unix-socket': {
      type: 'string',
      value: 'PATH',
      doc: 'also listen here, for root and the group skerry; folders cannot be shared through this socket',
    },
    bridge: {
      type: 'string',
      value: 'NAME',
      doc: "allow VMs to join this bridge of the machine, outside vmd's firewall; repeatable",
    },
    uplink: {
      type: 'string',
      value: 'NAME=DEVICE',
      doc: 'connect networks of the cloud to the site by this card or bridge of Open vSwitch; repeatable',
    },
    'allow-metadata': {
      type: 'boolean',
      doc: "let guests reach the metadata addresses of the machine's provider (169.254.0.0/16, 100.100.100.200, fd00:ec2::254); default: rejected",
    },
    restore: {
      type: 'string',
      value: 'WHICH',
      doc: 'VMs to start after a reboot: autostart (those set to, and those that vmd stopped; the default) or previous (all that ran)',
    },
    'on-stop': {
      type: 'string',
      value: 'WAY',
      doc: 'what to do with guests when vmd stops: leave (keep them running; the default), suspend or shutdown',
    },
    'host-api': {
      type: 'string',
      value: 'ADDRESS:PORT',
      doc: "listen address for the cloud's cells, once this machine has joined a cloud (default: [::]:8443)",
    },
    'shutdown-timeout': {
      type: 'string',
      value: 'S',
      doc: 'seconds a guest may take to shut itself down (default: 60)',
    },
    'stop-guests': {
      type: 'string',
      value: 'WAY',
      doc: 'ask the running vmd to suspend or shutdown all guests, e.g. before the machine shuts down',
    },
  },
  run: async ({ runProgram }, { words }) => runProgram(process.execPath, [PROGRAM, ...words]),
})
