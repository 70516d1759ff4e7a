# The run-time half of an MPI (Debian's openmpi-bin, which ParaView brings) has wrappers that name folders which only the
# development package would bring. Such wrappers stand first in PATH here.
. "$(dirname "$0")/harness.sh"
mkdir -p wrappers headers
for wrapper in mpicxx mpic++ mpiCC mpicc; do
  cat >"wrappers/$wrapper" <<WRAPPER
#!/bin/sh
case "\$*" in
  *-show*) echo "$compiler -I$folder/nowhere/include -L$folder/nowhere/lib -lmpi_cxx -lmpi" ;;
  *) exec "$compiler" "\$@" ;;
esac
WRAPPER
done
printf '#!/bin/sh\necho "mpiexec 4.1.4"\n' >wrappers/mpiexec
cp wrappers/mpiexec wrappers/mpirun
chmod +x wrappers/*
export PATH=$folder/wrappers:$PATH

# Whatever rivals this machine has.
configure plain
# A rival that is there, so that MPI is looked for: one line says why it is left out.
: >headers/HYPRE_parcsr_ls.h
: >libHYPRE.so
configure rival -DHYPRE_INCLUDE="$folder/headers" -DHYPRE_LIBRARY="$folder/libHYPRE.so"
[ "$(grep -c 'The rival hypre is left out' rival.log)" -eq 1 ] || { echo "FAILED: the log does not explain" >&2; cat rival.log >&2; exit 1; }
! grep -qi "cmake error" rival.log || { echo "FAILED: an error in the log" >&2; exit 1; }
lacks rival lope_rival_hypre
has rival bin/lope-bench
