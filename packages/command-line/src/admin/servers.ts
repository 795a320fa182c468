import { object, text, number } from '../shape.ts'
import { adminCommand, flag, valued } from './declare.ts'

/** The database URL can come from a file, because every user of the machine can read a password on a command line. */
const databaseOptions = {
  database: valued('URL', 'database, e.g. postgres://USER@HOST/NAME'),
  'database-file': valued('FILE', 'file that contains the database URL, hidden from other users'),
} as const

const out = valued('DIR', 'directory for the files; it must have the same path on its machine')

/** A cloud, and the certificates and configuration of its servers. */
export const serverAdmin = {
  init: adminCommand({
    name: 'admin init',
    usage: '',
    summary:
      'create a cloud: configuration, issuers, certificates, tables, first administrator; a second run changes only --console, --workflow, --egress, --original and --original-listen',
    examples: [
      'sudo skerry admin init --base https://cloud.example --database postgres://skerry@db.example/cloud',
      'sudo skerry admin init --console console.example',
    ],
    next: 'skerry cloud-server, then skerry admin host invite for every host',
    options: {
      base: valued('https://NAME:PORT', 'public URL of the cloud API'),
      ...databaseOptions,
      temporal: valued('ADDRESS:PORT', 'Temporal server (default: 127.0.0.1:7233)'),
      'temporal-files': valued(
        'CA,CERTIFICATE,KEY',
        'PEM files for Temporal (default: the certificate of the cell)',
      ),
      'temporal-plain': flag('connect to Temporal without TLS'),
      namespace: valued('NAME', 'Temporal namespace (default: skerry)'),
      listen: valued('ADDRESS:PORT', 'listen address of the API (default: [::]:443)'),
      machines: valued('ADDRESS:PORT', 'listen address of the machine API (default: [::]:8444)'),
      cell: valued('NAME', 'name of this cell (default: cell-1)'),
      identity: valued(
        'DIR',
        'directory of keys and certificates (default: identity, beside the configuration)',
      ),
      images: valued('DIR', 'image store (default: /var/lib/skerry/cloud-images)'),
      console: valued('HOST[:PORT]', 'public address of the console servers'),
      workflow: valued(
        'ADDRESS:PORT,...',
        'listeners of workflow servers for cells (--machines of admin workflow-server create); the web UI shows their workflows',
      ),
      egress: valued(
        'SOCKET',
        'socket of the egress on the machine of each cell; webhooks are sent through it',
      ),
      original: valued('https://NAME:PORT', 'public URL for clients of the original API'),
      'original-listen': valued(
        'ADDRESS:PORT',
        'listen address of the original API (default: [::], the port of --original)',
      ),
      'password-stdin': flag(
        'read the password of the administrator from standard input (default: generated and printed)',
      ),
    },
    output: object({ config: text, ca: text, user: text, org: text }, { password: text }),
  }),
  createCell: adminCommand({
    name: 'admin cell create',
    usage: 'NAME',
    summary:
      'issue the certificate and configuration of another cell; run it on a machine that has the issuer keys',
    examples: [
      'sudo skerry admin cell create cell-2 --out /etc/skerry/cell-2 --listen 192.0.2.12:443 --machines 192.0.2.12:8444',
    ],
    next: 'copy the directory to the same path on its machine, then run: skerry cloud-server --config DIR/cloud.json',
    options: {
      out,
      listen: valued('ADDRESS:PORT', 'listen address of its API (default: as this cell)'),
      machines: valued('ADDRESS:PORT', 'listen address of its machine API (default: as this cell)'),
      'original-listen': valued(
        'ADDRESS:PORT',
        'listen address of its original API (default: as this cell)',
      ),
      images: valued('DIR', 'its image store (default: as this cell)'),
    },
    output: object({ cell: text, config: text }),
  }),
  createConsoleServer: adminCommand({
    name: 'admin console-server create',
    usage: 'NAME',
    summary:
      'issue the certificates, configuration and database login of a console server; run it on a machine that has the issuer keys; the same name replaces them',
    examples: [
      'sudo skerry admin console-server create console-1 --out /etc/skerry/console --page https://console.example',
    ],
    next: 'copy the directory to the same path on its machine, then run: skerry console-server --config DIR/console.json',
    options: {
      out,
      page: valued('https://HOST[:PORT]', 'public URL of the screens'),
      listen: valued('ADDRESS:PORT', 'listen address (default: [::], the port of --page)'),
      database: valued('URL', 'address of the database as its machine reaches it (default: ours)'),
    },
    output: object({ console: text, config: text, page: text }),
  }),
  createWorkflowServer: adminCommand({
    name: 'admin workflow-server create',
    usage: 'NAME',
    summary:
      'issue the certificates and configuration of a workflow server; run it on a machine that has the issuer keys; the same name replaces them',
    examples: [
      'sudo skerry admin workflow-server create workflow-1 --out /etc/skerry/workflow --url https://workflow.example:8281 --database postgres://workflow@db.example/workflow',
    ],
    next: 'copy the directory to the same path on its machine, then run: skerry workflow-server --config DIR/workflow.json',
    options: {
      out,
      url: valued('https://HOST:PORT', 'its public URL'),
      listen: valued('ADDRESS:PORT', 'listen address (default: [::], the port of --url)'),
      machines: valued(
        'ADDRESS:PORT',
        'listen address for cells, which show its workflows in the web UI (default: none)',
      ),
      ...databaseOptions,
      temporal: valued('ADDRESS:PORT', 'Temporal server (default: that of the cloud)'),
      namespace: valued('NAME', 'Temporal namespace (default: that of the cloud, with -workflows)'),
      cells: valued('ADDRESS:PORT,...', 'machine APIs of the cells it uses (default: this cell)'),
      organisation: valued('NAME', 'organisation of users who log in without @ORG'),
    },
    output: object({ workflow: text, config: text, url: text }),
  }),
  createNetworkServer: adminCommand({
    name: 'admin network-server create',
    usage: 'NAME',
    summary:
      'issue the certificate, configuration and database login of a network server; run it on a machine that has the issuer keys; the same name replaces them',
    examples: [
      'sudo skerry admin network-server create network-1 --out /etc/skerry/network --host 192.0.2.7',
    ],
    next: 'copy the directory to the same path on its machine, then run: skerry network-server --config DIR/network.json',
    options: {
      out,
      host: valued('ADDRESS', 'the address at which hosts reach it'),
      listen: valued('ADDRESS:PORT', 'listen address for hosts (default: --host, port 6642)'),
      data: valued('DIR', 'directory for the databases of OVN (default: /var/lib/skerry-network)'),
      database: valued('URL', 'address of the database as its machine reaches it (default: ours)'),
    },
    output: object({ network: text, config: text, remote: text }),
  }),
  createTemporalServer: adminCommand({
    name: 'admin temporal-server create',
    usage: '',
    summary:
      'issue the certificates of a Temporal server that accepts only cells and workflow servers; run it on a machine that has the issuer keys; a second run replaces them',
    examples: ['sudo skerry admin temporal-server create --out /etc/skerry/temporal'],
    next: 'copy the files to its machine and set them in global.tls of its configuration: docs/guides/own-machines.md',
    options: { out: valued('DIR', 'directory for the files') },
    output: object({ out: text, certificate: text, key: text, clients: text }),
  }),
  revokeCertificates: adminCommand({
    name: 'admin certificate revoke',
    usage: '',
    summary:
      'revoke the certificates of all cells and consoles and renew this cell’s; use it when a certificate was stolen',
    examples: ['sudo skerry admin certificate revoke'],
    next: 'restart this cell and create the others again: skerry admin cell create, skerry admin console-server create',
    output: object({ epoch: number }),
  }),
} as const
