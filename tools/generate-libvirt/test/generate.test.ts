import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readHeaders } from '../headers.ts'
import { camel, procedureName, typeName } from '../names.ts'
import { readProtocol } from '../protocol.ts'
import { writeConstants } from '../write-constants.ts'
import { ProcedureWriter } from '../write-procedures.ts'

const header = `
# define VIR_BOAT_NAME_LENGTH (32 + 1)
# define VIR_BOAT_PARAM_SAIL_AREA   "sail_area"
typedef enum {
    VIR_BOAT_AFLOAT = 0, /* swims, for now */
    VIR_BOAT_MOORED,
    VIR_BOAT_SUNK = 1 << 4,
    VIR_BOAT_GONE = (VIR_BOAT_MOORED | VIR_BOAT_SUNK),
    VIR_BOAT_ALL = 1U << 31,
# ifdef VIR_ENUM_SENTINELS
    VIR_BOAT_LAST
# endif
} virBoatState;
typedef enum {
    VIR_DOMAIN_EVENT_ID_LAUNCH = 0,
} virDomainEventID;
`

const protocol = `
const REMOTE_PROGRAM = 0x10;
const QEMU_PROGRAM = 0x11;
const REMOTE_BOATS_MAX = 100; /* a small harbour */
typedef string remote_nonnull_string<1000>;
typedef remote_nonnull_string *remote_string;
struct remote_nonnull_boat {
    remote_nonnull_string name;
    opaque id[4];
};
struct remote_error {
    int code;
    remote_string message;
};
struct remote_boat_list_args {
    unsigned int need_results;
};
struct remote_boat_list_ret { /* insert@1 */
    remote_nonnull_boat boats<REMOTE_BOATS_MAX>;
    unsigned hyper total_weight;
    char flag[VIR_BOAT_NAME_LENGTH];
};
struct remote_domain_event_launch_msg {
    remote_nonnull_boat boat;
};
struct remote_domain_event_callback_launch_msg {
    int callbackID;
    remote_domain_event_launch_msg msg;
};
struct qemu_domain_monitor_event_msg {
    int callbackID;
    remote_string details;
};
 enum remote_procedure {
    /**
     * @generate: both
     */
    REMOTE_PROC_BOAT_LIST = 7,
    /**
     * @generate: both
     * @writestream: 1
     */
    REMOTE_PROC_BOAT_LOAD = 8,
    REMOTE_PROC_DOMAIN_EVENT_CALLBACK_LAUNCH = 9
};
 enum qemu_procedure { QEMU_PROC_DOMAIN_MONITOR_EVENT = 6 };
`

test('names follow those of libvirt', () => {
  assert.equal(camel('DOMAIN_GET_XML_DESC'), 'domainGetXmlDesc')
  assert.equal(camel('callbackID'), 'callbackID')
  assert.equal(camel('need_results'), 'needResults')
  assert.equal(typeName('remote_nonnull_domain_snapshot'), 'DomainSnapshot')
  assert.equal(procedureName('QEMU_PROC_DOMAIN_AGENT_COMMAND'), 'qemuDomainAgentCommand')
})

test('enums keep their C values, without the member that only counts', () => {
  const headers = readHeaders([header])
  assert.deepEqual(
    [...(headers.enums.get('virBoatState') ?? [])],
    [
      ['VIR_BOAT_AFLOAT', 0],
      ['VIR_BOAT_MOORED', 1],
      ['VIR_BOAT_SUNK', 16],
      ['VIR_BOAT_GONE', 17],
      ['VIR_BOAT_ALL', 2 ** 31],
    ],
  )
  assert.equal(headers.numbers.get('VIR_BOAT_NAME_LENGTH'), 33)
  const text = writeConstants(headers, { virBoatState: {} }, { BoatParam: 'VIR_BOAT_PARAM_' })
  assert.match(text, /export const BoatState = \{\n {2}afloat: 0,\n {2}moored: 1,/)
  assert.match(text, /export const BoatParam = \{\n {2}sailArea: 'sail_area',/)
})

test('a missing name stops the generator with an error that contains it', () => {
  const headers = readHeaders([header])
  assert.throws(() => writeConstants(headers, { virShip: {} }, {}), /virShip/)
  const wish = { procedures: ['shipList'], streams: {}, events: new Map<string, number>() }
  const writer = new ProcedureWriter(readProtocol(protocol, headers.numbers))
  assert.throws(() => writer.write(wish), /shipList/)
})

test('calls and events become values with codecs, limits and directions', () => {
  const { numbers, enums } = readHeaders([header])
  const events = enums.get('virDomainEventID') ?? new Map<string, number>()
  const wish = { procedures: ['boatList', 'boatLoad'], streams: {}, events }
  const text = new ProcedureWriter(readProtocol(protocol, numbers)).write(wish)
  const lines = [
    'export const REMOTE_PROGRAM = 0x10',
    'export interface Boat { name: string; id: Uint8Array }',
    'const boatCodec: Codec<Boat> = struct({ name: string(1000), id: fixed(4) })',
    'export const boatList: Procedure<{ needResults: number }, { boats: Boat[]; totalWeight: bigint; flag: string }> = {',
    '  ret: struct({ boats: array(boatCodec, 100), totalWeight: uhyper, flag: chars(33) }),',
    'export const boatLoad: StreamProcedure<void, void> = {',
    "  stream: 'write',",
    'export const domainEventLaunch: DomainEvent<{ boat: Boat }> = {',
    '  number: 9,',
    'export const qemuDomainMonitorEvent: DomainEvent<{ details: string | null }> = {',
  ]
  for (const line of lines) assert.ok(text.split('\n').includes(line), line)
})
