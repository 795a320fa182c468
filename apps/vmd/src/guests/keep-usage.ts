import { sampleUsage, type Host } from '@skerry/engine'
import { every } from '@skerry/service'
import { USAGE_STEP } from '@skerry/vm'

/** Samples what the VMs use, until the signal is aborted. A sample that takes long is not overlapped: those it misses are gaps. */
export function keepUsage(host: Host, signal: AbortSignal): void {
  const sample = () => sampleUsage(host)
  const failed = (error: unknown) => {
    // The end of vmd interrupts a sample.
    if (!signal.aborted) host.log('failed to sample what the VMs use', error)
  }
  sample().catch(failed)
  every(USAGE_STEP * 1000, signal, sample, failed)
}
