/** The example application: names the scheduler, which brings the API, and no backend. */
module com.example.first {
    requires io.weft.scheduler;
}
