# A VM from a template, with its size, a label and an SSH key.
terraform {
  required_providers {
    skerry = { source = "skerry.example/skerry/skerry" }
  }
}

# SKERRY_URL and SKERRY_TOKEN say which cloud, and as whom.
provider "skerry" {}

variable "name" {
  default = "web"
}

variable "template" {
  default = "debian"
}

variable "memory_mb" {
  default = 1024
}

variable "ssh_keys" {
  type    = list(string)
  default = []
}

data "skerry_template" "base" {
  name = var.template
}

resource "skerry_vm" "web" {
  name      = var.name
  template  = data.skerry_template.base.id
  cpus      = 2
  memory_mb = var.memory_mb

  # More memory needs the VM to be off: it is shut down and started again.
  allow_stop = true

  # cloud-init of a new VM only.
  ssh_keys = var.ssh_keys

  metadata = {
    stage = "test"
  }
}

output "address" {
  value = skerry_vm.web.address
}
