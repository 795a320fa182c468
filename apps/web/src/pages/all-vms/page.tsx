import { VmList } from '../vms/vm-list.tsx'

/** The VMs of all organisations, for administrators of the cloud. */
export const AllVmsPage = () => <VmList isAdministration />
