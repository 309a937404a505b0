# Brings a PC from where a multiboot loader leaves it (32 bits) to 64 bits with AVX-512 and AMX, and calls main. The first
# 4 GiB are mapped to themselves. Nothing else of a system is here: no interrupts, no processes.
    .section .boot, "awx"
    .code32
    .balign 4
header:
    .long 0x1BADB002, 0x00010000, -(0x1BADB002 + 0x00010000)
    .long header, load_start, load_end, bss_end, start
start:
    cli
    mov $stack_end, %esp
    # Four tables of 512 pages of 2 MiB.
    mov $pages, %edi
    xor %eax, %eax
    mov $2048, %ecx
1:  mov %eax, %edx
    or $0x83, %edx
    mov %edx, (%edi)
    movl $0, 4(%edi)
    add $0x200000, %eax
    add $8, %edi
    loop 1b
    mov $directories, %edi
    mov $pages + 3, %eax
    mov $4, %ecx
2:  mov %eax, (%edi)
    add $0x1000, %eax
    add $8, %edi
    loop 2b
    movl $directories + 3, root
    mov $root, %eax
    mov %eax, %cr3
    mov $0x40620, %eax        # PAE, OSFXSR, OSXMMEXCPT, OSXSAVE
    mov %eax, %cr4
    mov $0xC0000080, %ecx     # EFER: long mode
    rdmsr
    or $0x100, %eax
    wrmsr
    mov %cr0, %eax
    and $~4, %eax
    or $0x80000003, %eax
    mov %eax, %cr0
    lgdt gdt_pointer
    ljmp $8, $long_mode
    .code64
long_mode:
    xor %eax, %eax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    xor %ecx, %ecx
    xor %edx, %edx
    mov $0x600e7, %eax        # x87, SSE, AVX, AVX-512, and both of AMX
    xsetbv
    mov $stack_end, %rsp
    call machine_main
3:  hlt
    jmp 3b

    .balign 16
gdt:
    .quad 0, 0x00209A0000000000
gdt_pointer:
    .word 15
    .long gdt

    .section .bss
    .balign 4096
root: .skip 4096
directories: .skip 4096
pages: .skip 4 * 4096
    .balign 64
    .skip 16 << 20
stack_end:
