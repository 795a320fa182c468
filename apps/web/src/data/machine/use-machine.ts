// What pages of one machine read, each under a fixed key, so that events can say what is old.
import { keepPreviousData } from '@tanstack/react-query'

import { request } from '../../api/client.ts'
import {
  localPath,
  type LocalFolder,
  type LocalForward,
  type LocalHealth,
  type MachineState,
  type LocalSnapshot,
  type LocalTemplate,
} from '../../api/machine.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import { useRead } from '../use-read.ts'
import { readMachineVm, readMachineVms } from './machine-source.ts'

const ADDRESS_MS = 3000
/** No event says that a guest has got its address. */
const isWaiting = ({ power, address }: MachineVm): boolean =>
  power === 'on' && address === undefined

export const useMachineVms = () =>
  useRead({
    queryKey: ['machine', 'vms'],
    queryFn: ({ signal }) => readMachineVms(signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.some(isWaiting) ? ADDRESS_MS : false),
  })

export const useMachineVm = (id: string) =>
  useRead({
    queryKey: ['vm', id],
    queryFn: ({ signal }) => readMachineVm(id, signal),
    placeholderData: (previous) => (previous?.id === id ? previous : undefined),
    refetchInterval: ({ state }) => (state.data && isWaiting(state.data) ? ADDRESS_MS : false),
  })

const useLocal = <T>(...words: readonly string[]) =>
  useRead({
    queryKey: ['machine', ...words],
    queryFn: ({ signal }) => request<T>(localPath(...words), { signal }),
  })

export const useSnapshots = (vm: string) =>
  useLocal<readonly LocalSnapshot[]>('vms', vm, 'snapshots')
export const useForwards = (vm: string) => useLocal<readonly LocalForward[]>('vms', vm, 'forwards')
export const useLocalTemplates = () => useLocal<readonly LocalTemplate[]>('templates')
/** Not read again by events: vmd runs the checks of `skerry doctor` for it. */
export const useLocalMachine = () =>
  useRead({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => request<MachineState>(localPath('machine'), { signal }),
  })
/** Nor this: vmd tries to define a VM for it. */
export const useLocalHealth = () =>
  useRead({
    queryKey: ['health'],
    queryFn: ({ signal }) => request<LocalHealth>(localPath('health'), { signal }),
  })

/** The list of the API has the names only; each folder is read for its directory. */
export const useFolders = (vm: string) =>
  useRead({
    queryKey: ['machine', 'vms', vm, 'folders'],
    queryFn: async ({ signal }) => {
      const names = await request<readonly string[]>(localPath('vms', vm, 'folders'), { signal })
      return Promise.all(
        names.map((name) =>
          request<LocalFolder>(localPath('vms', vm, 'folders', name), { signal }),
        ),
      )
    },
  })

const LOG_BYTES = '32768'
const LOG_MS = 3000

/** The end of what the guest wrote to its serial port. No event says that there is more. */
export const useSerialLog = (vm: string) =>
  useRead({
    queryKey: ['machine', 'vms', vm, 'serial'],
    queryFn: async ({ signal }) =>
      (await request<string | undefined>(`${localPath('vms', vm, 'serial')}?bytes=${LOG_BYTES}`, {
        signal,
      })) ?? '',
    refetchInterval: LOG_MS,
  })

/** All forwards of this machine, with their VMs. */
export const useAllForwards = (vms: readonly string[]) =>
  useRead({
    queryKey: ['machine', 'forwards', ...vms],
    queryFn: async ({ signal }) =>
      (
        await Promise.all(
          vms.map(async (vm) =>
            (
              await request<readonly LocalForward[]>(localPath('vms', vm, 'forwards'), { signal })
            ).map((forward) => ({ vm, ...forward })),
          ),
        )
      ).flat(),
    placeholderData: keepPreviousData,
  })
